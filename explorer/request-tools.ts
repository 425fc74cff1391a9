import type { Api, ApiRequest } from './api.ts'
import { find } from './dom.ts'
import type { Exchange } from './exchange.ts'
import { copyText, createResponseView } from './response.ts'
import { snippetOf } from './snippets.ts'
import type { Form } from './snippets.ts'

/** The foot of a panel: copies its request as code, and shows its response. */
export interface RequestTools {
  /** Takes the last request, and its response if there is one. */
  show(apiRequest: ApiRequest, exchange: Exchange | undefined): void
  /** Copies the request in the form with that name. */
  copy(name: string | undefined): Promise<void>
}

const FORMS: readonly Form[] = ['curl', 'fetch', 'client', 'python', 'cli', 'url']

/** Creates the foot of `section`. */
export function createRequestTools(section: HTMLElement, { base, hasKey }: Api): RequestTools {
  const snippet = find('.snippet', HTMLElement, section)
  const outcome = find('.copied', HTMLElement, section)
  const response = createResponseView(find('.response', HTMLDetailsElement, section))
  let current: ApiRequest | undefined
  let form: Form | undefined

  function write(): void {
    if (!current || !form) return
    const target = { baseUrl: location.origin + base, hasKey: hasKey() }
    snippet.textContent = snippetOf(form, target, current)
  }
  return {
    show(apiRequest, exchange) {
      current = apiRequest
      write()
      response.show(exchange)
    },
    async copy(name) {
      form = FORMS.find((each) => each === name) ?? 'curl'
      write()
      snippet.hidden = false
      outcome.textContent = (await copyText(snippet)) ? 'Copied' : 'Selected; copy it manually'
    },
  }
}
