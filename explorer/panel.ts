import { RatesError } from 'ratesmith/client'
import type { Attribution, RatesErrorCode } from 'ratesmith/client'

import { pathOf, send, snippetOf } from './api.ts'
import type { Api, ApiRequest, Form, Responses } from './api.ts'
import { copyOf, find } from './dom.ts'

/** Options of a panel. */
export interface PanelOptions<Operation extends keyof Responses> {
  operation: Operation
  show(response: Responses[Operation]): void
  /** Called for every failure, and with `undefined` after a success. */
  failed?(error: RatesError | undefined): void
}

/** A section of the page that shows the response to one API request at a time. */
export interface Panel {
  /** Sends a request after `delay` ms (default 0), unless it equals the last one. Cancels a pending request. */
  load(parameters: ApiRequest['parameters'], delay?: number): void
  /** Cancels a pending request and hides the data, whose place stays empty. */
  clear(): void
  /** Repeats the last request. */
  reload(): void
  /** Repeats the last request if it failed. */
  recover(): void
}

/** Creates the panel in `section`. */
export function createPanel<Operation extends keyof Responses>(
  section: HTMLElement,
  { base, client }: Api,
  options: PanelOptions<Operation>,
): Panel {
  const outcome = createOutcome(section, options, reload)
  const requestLine = createRequestLine(section, base)
  let current: ApiRequest<Operation> | undefined
  let pending = new AbortController()

  async function run(apiRequest: ApiRequest<Operation>, delay: number): Promise<void> {
    const { signal } = pending
    try {
      await sleep(delay, signal)
      outcome.succeed(await send(client, apiRequest, signal))
    } catch (error) {
      if (signal.aborted) return
      const failure = toRatesError(error)
      outcome.fail(failure)
      if (failure.retryAfter) sleep(failure.retryAfter * 1000, signal).then(reload, () => {})
    }
    section.ariaBusy = 'false'
  }

  function start(apiRequest: ApiRequest<Operation>, delay: number): void {
    pending.abort()
    pending = new AbortController()
    current = apiRequest
    section.ariaBusy = 'true'
    requestLine.show(apiRequest)
    void run(apiRequest, delay)
  }

  function reload(): void {
    if (current) start(current, 0)
  }

  return {
    load(parameters, delay = 0) {
      const next = { operation: options.operation, parameters }
      if (!current || pathOf(base, current) !== pathOf(base, next)) start(next, delay)
    },
    clear() {
      pending.abort()
      current = undefined
      outcome.clear()
      section.ariaBusy = 'false'
    },
    reload,
    recover() {
      if (section.dataset['state'] === 'failed') reload()
    },
  }
}

/** Resolves after `duration` ms; rejects if `signal` aborts. */
function sleep(duration: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, duration)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

/** Returns the error of the client, or that of a response which the page cannot show. */
function toRatesError(error: unknown): RatesError {
  return error instanceof RatesError ? error : new RatesError('internal_error', String(error))
}

/** Errors that the same request may avoid later; others concern its parameters. */
const RETRYABLE: readonly RatesErrorCode[] = [
  'provider_unavailable',
  'overloaded',
  'internal_error',
]

/** The response or the error message of a panel. */
interface Outcome<Response> {
  succeed(response: Response): void
  fail(failure: RatesError): void
  clear(): void
}

/** Creates the outcome of the requests of `section`; the button of an error message calls `retry`. */
function createOutcome<Operation extends keyof Responses>(
  section: HTMLElement,
  { show, failed }: PanelOptions<Operation>,
  retry: () => void,
): Outcome<Responses[Operation]> {
  find('.data', HTMLElement, section).before(copyOf('notice'))
  const notice = find('.notice', HTMLElement, section)
  const message = find('[role=alert]', HTMLElement, notice)
  message.id = `${section.id}-notice`
  find('button', HTMLButtonElement, notice).addEventListener('click', retry)
  function enter(state: 'loaded' | 'empty'): void {
    section.dataset['state'] = state
    failed?.(undefined)
    notice.hidden = true
    message.textContent = ''
  }
  return {
    succeed(response) {
      enter('loaded')
      showSource(section, response.source)
      show(response)
    },
    clear: () => enter('empty'),
    fail(failure) {
      const { code, summary, retryAfter } = failure
      section.dataset['state'] = 'failed'
      failed?.(failure)
      notice.hidden = false
      // Setting the same text again would make screen readers repeat it.
      if (message.textContent !== summary) message.textContent = summary
      find('.retry', HTMLElement, notice).hidden = !RETRYABLE.includes(code)
      const waiting = retryAfter ? `Retrying in ${retryAfter} s` : ''
      find('.waiting', HTMLElement, notice).textContent = waiting
    },
  }
}

function showSource(section: HTMLElement, { name, url }: Attribution): void {
  const link = find('.source a', HTMLAnchorElement, section)
  link.textContent = name
  // A `javascript:` URL from the API must not become a link; otherwise only the content security policy would block it.
  if (/^https?:\/\//i.test(url)) link.href = url
  else link.removeAttribute('href')
}

/** Creates the line at the foot of a panel that shows its last request and copies it as code. */
function createRequestLine(
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
