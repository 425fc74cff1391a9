import { RatesError } from 'ratesmith/client'
import type { Attribution, RatesErrorCode } from 'ratesmith/client'

import { pathOf, send, snippetOf } from './api.ts'
import type { Api, ApiRequest, Form, Responses } from './api.ts'
import { copyOf, durationInWords, find } from './dom.ts'

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
  api: Api,
  options: PanelOptions<Operation>,
): Panel {
  const outcome = createOutcome(section, options, reload)
  const requestLine = createRequestLine(section, api)
  let current: ApiRequest<Operation> | undefined
  let pending = new AbortController()

  async function run(apiRequest: ApiRequest<Operation>, delay: number): Promise<void> {
    const { signal } = pending
    try {
      await sleep(delay, signal)
      outcome.succeed(await send(api.client(), apiRequest, signal))
    } catch (error) {
      if (signal.aborted) return
      const failure = outcome.fail(error)
      if (isRefusal(failure)) api.refused()
      retryLater(failure, reload, signal)
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
      if (!current || pathOf(api.base, current) !== pathOf(api.base, next)) start(next, delay)
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

/** Calls `retry` after the `Retry-After` of a failure, unless it is far away or `signal` aborts. */
function retryLater({ retryAfter = 0 }: RatesError, retry: () => void, signal: AbortSignal): void {
  const isSoon = retryAfter > 0 && retryAfter <= MAX_RETRY_AFTER_SECONDS
  if (isSoon) sleep(retryAfter * 1_000, signal).then(retry, () => {})
}

/** Returns the error of the client, or that of a response which the page cannot show. */
function toRatesError(error: unknown): RatesError {
  return error instanceof RatesError ? error : new RatesError('internal_error', String(error))
}

/** A monthly limit may end after weeks, for which no timer waits. */
const MAX_RETRY_AFTER_SECONDS = 3_600

/** What to do about refused requests. */
const ADVICE: Partial<Record<RatesErrorCode, string>> = {
  unauthorized: 'Enter an API key at the top of the page.',
  forbidden: 'Enter another API key at the top of the page.',
  rate_limited: 'Wait, or enter an API key with higher limits at the top of the page.',
}

function isRefusal({ code }: RatesError): boolean {
  return ADVICE[code] !== undefined
}

/** Errors that the same request may avoid later; others concern its parameters. */
const RETRYABLE: readonly RatesErrorCode[] = [
  'rate_limited',
  'provider_unavailable',
  'overloaded',
  'internal_error',
]

/** The response or the error message of a panel. */
interface Outcome<Response> {
  succeed(response: Response): void
  /** Shows an error, and returns it as that of the client. */
  fail(error: unknown): RatesError
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
    fail(error) {
      const failure = toRatesError(error)
      const { code, retryAfter } = failure
      const summary = textOf(failure)
      section.dataset['state'] = 'failed'
      failed?.(failure)
      notice.hidden = false
      // Setting the same text again would make screen readers repeat it.
      if (message.textContent !== summary) message.textContent = summary
      find('.retry', HTMLElement, notice).hidden = !RETRYABLE.includes(code)
      find('.waiting', HTMLElement, notice).textContent = retryInWords(retryAfter)
      return failure
    },
  }
}

/** Returns the message of a failure, and what to do about it. */
function textOf({ code, summary }: RatesError): string {
  const advice = ADVICE[code]
  if (advice === undefined) return summary
  return `${summary}${/[.!?]$/.test(summary) ? '' : '.'} ${advice}`
}

/** Formats when the next request is sent, or may be. */
function retryInWords(retryAfter: number | undefined): string {
  if (!retryAfter) return ''
  if (retryAfter <= MAX_RETRY_AFTER_SECONDS) return `Retrying in ${retryAfter} s`
  return `Possible again in ${durationInWords(retryAfter * 1_000)}`
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
  { base, hasKey }: Api,
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
    if (!form) return
    const target = { baseUrl: location.origin + base, hasKey: hasKey() }
    snippet.textContent = snippetOf(form, target, apiRequest)
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
