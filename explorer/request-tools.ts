import type { ApiRequest } from './api.ts'
import { find } from './dom.ts'
import type { Exchange } from './request.ts'
import { isForm, snippetOf } from './snippets.ts'
import type { Form } from './snippets.ts'

/** Copies the last request of the panel in `section` as code, and shows the response to it. */
export function createRequestTools(
  section: HTMLElement,
  { base, hasKey }: { base: string; hasKey(): boolean },
) {
  const snippet = find('.snippet', HTMLElement, section)
  const outcome = find('.copied', HTMLElement, section)
  const details = find('.response', HTMLDetailsElement, section)
  const facts = find('.facts', HTMLElement, details)
  const body = find('pre', HTMLPreElement, details)
  let request: ApiRequest | undefined
  let response: Exchange | undefined
  let form: Form | undefined

  function write(): void {
    const target = { baseUrl: location.origin + base, hasKey: hasKey() }
    if (request && form) snippet.textContent = snippetOf(form, target, request)
    if (!details.open) return
    facts.textContent = response ? factsOf(response) : 'No response yet'
    body.textContent = response ? readable(response.text) : ''
  }
  details.addEventListener('toggle', write)
  return {
    show(...shown: [ApiRequest, Exchange | undefined]): void {
      ;[request, response] = shown
      write()
    },
    async copy(name: string): Promise<void> {
      form = isForm(name) ? name : 'curl'
      write()
      snippet.hidden = false
      await copyText(snippet, outcome)
    },
  }
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
const MAX_LINES = 400

/** Returns JSON with line breaks, and other texts unchanged; of long ones only the start. */
function readable(text: string): string {
  let whole = text
  try {
    whole = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // The page of a gateway.
  }
  const lines = whole.split('\n')
  if (lines.length <= MAX_LINES) return whole
  const left = lines.length - MAX_LINES
  return `${lines.slice(0, MAX_LINES).join('\n')}\n… ${left} more lines: open the request to see all`
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
