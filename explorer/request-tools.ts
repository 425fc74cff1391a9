import type { Api, ApiRequest } from './api.ts'
import { find } from './dom.ts'
import type { Exchange } from './exchange.ts'
import { copyText, createResponseView } from './response.ts'
import { httpSnippetOf, snippetOf } from './snippets.ts'
import type { Form, HttpForm, HttpRequest } from './snippets.ts'

/** Copies a request as code, and shows its response. */
export interface RequestTools<Request> {
  /** Takes the last request, and its response or why there is none. */
  show(request: Request, response?: Exchange | string): void
  /** Copies the request in the form with that name. */
  copy(name: string | undefined): Promise<void>
}

const HTTP_FORMS: readonly [HttpForm, ...HttpForm[]] = ['curl', 'fetch', 'python', 'url']
const FORMS: readonly [Form, ...Form[]] = [...HTTP_FORMS, 'client', 'cli']

/** Creates the foot of a panel in `section`. */
export function createRequestTools(
  section: HTMLElement,
  { base, hasKey }: Api,
): RequestTools<ApiRequest> {
  return createTools(section, FORMS, (form, apiRequest) =>
    snippetOf(form, { baseUrl: location.origin + base, hasKey: hasKey() }, apiRequest),
  )
}

/** Creates the foot of any endpoint in `section`. */
export function createHttpTools(
  section: HTMLElement,
  { hasKey }: Pick<Api, 'hasKey'>,
): RequestTools<HttpRequest> {
  return createTools(section, HTTP_FORMS, (form, request) => httpSnippetOf(form, request, hasKey()))
}

function createTools<Request, Name extends string>(
  section: HTMLElement,
  forms: readonly [Name, ...Name[]],
  snippetIn: (form: Name, request: Request) => string,
): RequestTools<Request> {
  const snippet = find('.snippet', HTMLElement, section)
  const outcome = find('.copied', HTMLElement, section)
  const response = createResponseView(find('.response', HTMLDetailsElement, section))
  let current: Request | undefined
  let form: Name | undefined

  function write(): void {
    if (current && form) snippet.textContent = snippetIn(form, current)
  }
  return {
    show(request, received) {
      current = request
      write()
      response.show(received)
    },
    async copy(name) {
      form = forms.find((each) => each === name) ?? forms[0]
      write()
      snippet.hidden = false
      outcome.textContent = (await copyText(snippet)) ? 'Copied' : 'Selected; copy it manually'
    },
  }
}
