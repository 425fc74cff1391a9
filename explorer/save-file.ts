import { make } from './dom.ts'

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
