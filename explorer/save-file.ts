import { make } from './dom.ts'

/**
 * Saves what `link` leads to, requested with `headers`.
 *
 * @throws {Error} if the response is an error
 */
export async function saveFile(link: HTMLAnchorElement, headers: Record<string, string>) {
  const { href, download } = link
  const response = await fetch(href, { headers })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  const file = make('a')
  file.href = URL.createObjectURL(await response.blob())
  file.download = download
  file.click()
  // Safari reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(file.href), 60_000)
}
