import { pathOf, snippetOf } from './api-request.ts'
import type { ApiRequest, Form } from './api-request.ts'
import { copyOf, find } from './elements.ts'

/** Creates the line at the foot of a panel that shows its last request and copies it as code. */
export function createRequestLine(
  section: HTMLElement,
  base: string,
): { show(apiRequest: ApiRequest): void } {
  section.append(copyOf('foot'))
  const line = find('.asked', HTMLElement, section)
  const snippet = find('.snippet', HTMLElement, section)
  const outcome = find('.copied', HTMLElement, section)
  let current: ApiRequest | undefined
  let form: Form | undefined

  function show(apiRequest: ApiRequest): void {
    current = apiRequest
    line.textContent = `GET ${pathOf(base, apiRequest)}`
    outcome.textContent = ''
    if (form) snippet.textContent = snippetOf(form, location.origin + base, apiRequest)
  }

  async function copy(chosen: Form): Promise<void> {
    if (!current) return
    form = chosen
    show(current)
    snippet.hidden = false
    outcome.textContent = (await write(snippet)) ? 'Copied' : 'Selected; copy it manually'
  }

  for (const button of section.querySelectorAll<HTMLButtonElement>('[data-form]')) {
    button.addEventListener('click', () => void copy(toForm(button.dataset['form'])))
  }
  return { show }
}

function toForm(name: string | undefined): Form {
  return name === 'fetch' || name === 'client' ? name : 'curl'
}

/** Selects the text of `element` and copies it to the clipboard; returns false if the browser refuses. */
async function write(element: HTMLElement): Promise<boolean> {
  getSelection()?.selectAllChildren(element)
  try {
    // Browsers have a clipboard only over HTTPS and on localhost.
    await navigator.clipboard.writeText(element.textContent)
    return true
  } catch {
    return false
  }
}
