import { copyOf, find } from './elements.ts'
import { pathOf, snippetOf } from './api-request.ts'
import type { Form, ApiRequest } from './api-request.ts'

/** The line at the foot of a panel that tells which request it made, and copies it for use elsewhere. */
export function createRequestLine(
  section: HTMLElement,
  base: string,
): { show(question: ApiRequest): void } {
  section.append(copyOf('foot'))
  const line = find('.asked', HTMLElement, section)
  const snippet = find('.snippet', HTMLElement, section)
  const outcome = find('.copied', HTMLElement, section)
  let asked: ApiRequest | undefined
  let form: Form | undefined

  function show(question: ApiRequest): void {
    asked = question
    line.textContent = `GET ${pathOf(base, question)}`
    outcome.textContent = ''
    if (form) snippet.textContent = snippetOf(form, location.origin + base, question)
  }

  async function copy(chosen: Form): Promise<void> {
    if (!asked) return
    form = chosen
    show(asked)
    snippet.hidden = false
    outcome.textContent = (await write(snippet)) ? 'Copied' : 'Selected, to be copied by hand'
  }

  for (const button of section.querySelectorAll<HTMLButtonElement>('[data-form]')) {
    button.addEventListener('click', () => void copy(toForm(button.dataset['form'])))
  }
  return { show }
}

function toForm(name: string | undefined): Form {
  return name === 'fetch' || name === 'client' ? name : 'curl'
}

/** Selects what `element` holds and puts it on the clipboard; whether the browser allowed that. */
async function write(element: HTMLElement): Promise<boolean> {
  getSelection()?.selectAllChildren(element)
  try {
    // There is none on plain http, but of this machine.
    await navigator.clipboard.writeText(element.textContent)
    return true
  } catch {
    return false
  }
}
