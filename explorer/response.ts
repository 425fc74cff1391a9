import { find } from './dom.ts'
import type { Exchange } from './exchange.ts'

/** A longer text makes the page slow. */
const MAX_LINES = 400

/** Creates the view of a response in `details`, which has `.facts` and `pre`. The text is made when it opens. */
export function createResponseView(details: HTMLDetailsElement): {
  /** Shows a response, or why there is none. */
  show(response?: Exchange | string): void
} {
  const facts = find('.facts', HTMLElement, details)
  const body = find('pre', HTMLPreElement, details)
  let shown: Exchange | string = ''
  function fill(): void {
    if (!details.open) return
    const [fact, text] =
      typeof shown === 'string' ? [shown, ''] : [factsOf(shown), readable(shown.text)]
    facts.textContent = fact
    body.textContent = text
  }
  details.addEventListener('toggle', fill)
  return {
    show(response = 'No response yet') {
      shown = response
      fill()
    },
  }
}

function factsOf({ status, headers, text, elapsed }: Exchange): string {
  const bytes = new Blob([text]).size
  const size = bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`
  const names = ['cache-status', 'retry-after']
  const sent = names.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : `${name === names[0] ? 'Cache-Status' : 'Retry-After'}: ${value}`
  })
  return [`Status ${status}`, `${Math.round(elapsed)} ms`, size, ...sent].join(' · ')
}

/** Returns JSON with line breaks, and other texts unchanged; of long ones only the start. */
function readable(text: string): string {
  let whole = text
  try {
    whole = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // CSV, or the page of a gateway.
  }
  const lines = whole.split('\n')
  if (lines.length <= MAX_LINES) return whole
  const left = lines.length - MAX_LINES
  return `${lines.slice(0, MAX_LINES).join('\n')}\n… ${left} more lines: open the request to see all`
}

/** Selects the text of `element` and copies it to the clipboard; returns false if the browser refuses. */
export async function copyText(element: HTMLElement): Promise<boolean> {
  getSelection()?.selectAllChildren(element)
  try {
    // Browsers have a clipboard only over HTTPS and on localhost.
    await navigator.clipboard.writeText(element.textContent)
    return true
  } catch {
    return false
  }
}
