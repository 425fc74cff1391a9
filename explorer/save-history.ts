import type { ApiRequest } from './api.ts'
import { make } from './dom.ts'
import { FIRST_DAY } from './range.ts'

/**
 * Saves the history of `parameters` from `url`, requested with `headers`, as CSV.
 *
 * @throws {Error} if the response is an error
 */
export async function saveHistory(
  url: string,
  { from = '', to = '', period, start, end }: ApiRequest['parameters'],
  headers: Record<string, string>,
): Promise<void> {
  const response = await fetch(url, { headers })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  const days =
    period ?? (start === FIRST_DAY && !end ? 'MAX' : [start, end].filter(Boolean).join('-'))
  const file = make('a')
  file.href = URL.createObjectURL(await response.blob())
  file.download = `${[from, to.replaceAll(',', '-'), days].join('-')}.csv`
  file.click()
  // Safari reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(file.href), 60_000)
}
