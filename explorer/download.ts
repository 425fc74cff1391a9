import { pathOf } from './api.ts'
import type { ApiRequest } from './api.ts'
import { find, make } from './dom.ts'
import type { Api } from './page-api.ts'
import { FIRST_DAY } from './range.ts'

/** Creates the link that downloads a history as CSV, with the key of the page; the function it returns sets which. */
export function createDownload({ base, keyHeader, onMore }: Api) {
  const link = find('#csv', HTMLAnchorElement)
  const state = find('#chart-state')
  let name = ''

  onMore(({ saveFile }) => {
    link.addEventListener('click', (event) => {
      event.preventDefault()
      state.textContent = ''
      saveFile(link.href, name, keyHeader()).catch(
        ({ message }) => (state.textContent = `The download failed: ${message}`),
      )
    })
  })
  return (parameters: ApiRequest['parameters']): void => {
    const { from, to = '', period, start, end } = parameters
    const days =
      period ?? (start === FIRST_DAY && !end ? 'MAX' : [start, end].filter(Boolean).join('-'))
    name = `${from}-${to.replaceAll(',', '-')}-${days}.csv`
    const path = pathOf(base, { operation: 'history', parameters })
    link.href = `${path}&format=csv${to.includes(',') ? '&layout=wide' : ''}`
  }
}

/**
 * Saves the body of the response from `url` as the file `name`.
 *
 * @throws {Error} if the response is an error
 */
export async function saveFile(
  url: string,
  name: string,
  headers: Record<string, string>,
): Promise<void> {
  const response = await fetch(url, { headers })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  const file = make('a', { href: URL.createObjectURL(await response.blob()), download: name })
  file.click()
  // Safari reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(file.href), 60_000)
}
