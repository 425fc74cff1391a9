import { pathOf } from './api.ts'
import type { ApiRequest } from './api.ts'
import { make } from './dom.ts'
import type { Exchange, Service } from './request.ts'
import { FORMS, isForm, snippetOf } from './snippets.ts'
import type { Form } from './snippets.ts'

/** Creates in `details` the last request of a panel, buttons that copy it as code, and the response to it. */
export function createRequestTools(
  details: HTMLElement,
  { base, keyHeader }: Pick<Service, 'base' | 'keyHeader'>,
) {
  const line = make('a', { className: 'asked', target: '_blank', rel: 'noopener' })
  const outcome = make('span', { className: 'copied', role: 'status' })
  const buttons = Object.keys(FORMS).map((form) => make('button', {}, form))
  const copies = make('p', { className: 'copies', role: 'group' }, 'Copy as', ...buttons, outcome)
  copies.ariaLabel = 'Copy as'
  const snippet = scrollable('snippet', 'Request as code')
  const facts = make('p', { className: 'facts' })
  const body = scrollable('body', 'Response body')
  snippet.hidden = true
  details.append(make('div', {}, line, copies, snippet, facts, body))
  let shown: [ApiRequest, Exchange | undefined] | undefined
  let form: Form | undefined

  function write(): void {
    if (!shown) return
    const [request, response] = shown
    const target = { baseUrl: location.origin + base, hasKey: 'authorization' in keyHeader() }
    if (form) snippet.textContent = snippetOf(form, target, request)
    const path = pathOf(base, request)
    line.textContent = `GET ${path}`
    // A link sends no key.
    if (target.hasKey) line.removeAttribute('href')
    else line.href = location.origin + path
    facts.textContent = response ? factsOf(response) : 'No response yet'
    body.textContent = response ? readable(response.text) : ''
  }
  copies.addEventListener('click', ({ target }) => {
    const name = target instanceof HTMLButtonElement ? target.textContent : ''
    if (!isForm(name)) return
    form = name
    write()
    snippet.hidden = false
    void copyText(snippet, outcome)
  })
  return {
    show(...next: [ApiRequest, Exchange | undefined]): void {
      if (next[0] !== shown?.[0]) outcome.textContent = ''
      shown = next
      write()
    },
  }
}

function scrollable(className: string, ariaLabel: string): HTMLPreElement {
  return make('pre', { className, ariaLabel, tabIndex: 0, role: 'group' })
}

function factsOf({ status, headers, text, elapsed }: Exchange): string {
  const bytes = new Blob([text]).size
  const size = bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`
  const sent = ['Cache-Status', 'Retry-After'].flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : `${name}: ${value}`
  })
  return [`Status ${status}`, `${Math.round(elapsed)} ms`, size, ...sent].join(' · ')
}

/** A longer text makes the page slow. */
const MAX_CHARACTERS = 20_000

/** Returns JSON with line breaks, and other texts unchanged; of long ones only the start. */
function readable(text: string): string {
  let whole = text
  try {
    whole = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // The page of a gateway.
  }
  if (whole.length <= MAX_CHARACTERS) return whole
  return `${whole.slice(0, MAX_CHARACTERS)}\n… open the request to see all`
}

/** Selects the text of `element` and copies it to the clipboard, or lets the user copy it where the browser refuses. */
export async function copyText(element: HTMLElement, outcome: HTMLElement): Promise<void> {
  getSelection()?.selectAllChildren(element)
  try {
    // Browsers have a clipboard only over HTTPS and on localhost.
    await navigator.clipboard.writeText(element.textContent)
    outcome.textContent = 'Copied'
  } catch {
    outcome.textContent = 'Selected; copy it manually'
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
