import { RatesError } from 'ratesmith/client'
import type { Attribution, RatesErrorCode } from 'ratesmith/client'

import type { FieldOf } from '../src/response-body.ts'
import { historiesOf, pathOf } from './api.ts'
import type { ApiRequest, Responses } from './api.ts'
import type { Api } from './page-api.ts'
import { durationInWords, find, make } from './dom.ts'
import type { createRequestTools as RequestTools } from './request-tools.ts'
import type { Exchange } from './request.ts'

/** A field that every response to an operation has. */
const FIELDS: { [Operation in keyof Responses]: FieldOf<Responses[Operation]> } = {
  latest: 'rates',
  convert: 'result',
  history: 'from',
}

interface PanelOptions<Operation extends keyof Responses> {
  operation: Operation
  show(response: Responses[Operation]): void
  /** Called for every failure, and with `undefined` after a success. */
  failed?(error: RatesError | undefined): void
}

/** Creates the panel in `section`, which shows the response to one request at a time. */
// oxlint-disable-next-line max-lines-per-function -- one state machine over its closures.
export function createPanel<Operation extends keyof Responses>(
  section: HTMLElement,
  api: Api,
  options: PanelOptions<Operation>,
) {
  const outcome = createOutcome(section, options, reload)
  const requestLine = createRequestLine(section, api)
  const retries = createRetries(reload, outcome.wait)
  let current: ApiRequest<Operation> | undefined
  let pending = new AbortController()

  async function run(apiRequest: ApiRequest<Operation>, delay: number): Promise<void> {
    const { signal } = pending
    const observe = (exchange: Exchange): void => {
      if (!signal.aborted) requestLine.show(apiRequest, exchange)
    }
    try {
      if (delay > 0) await sleep(delay, signal)
      const path = pathOf('', apiRequest)
      const field = FIELDS[options.operation]
      const response = await api.request<Responses[Operation]>(path, field, { signal, observe })
      retries.reset()
      outcome.succeed(response, pathOf(api.base, apiRequest))
    } catch (error) {
      if (signal.aborted) return
      const failure = outcome.fail(error)
      if (ADVICE[failure.code] !== undefined) api.refused()
      retries.plan(failure, signal).catch(() => {})
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
    /** Sends a request after `delay` ms, unless it equals the last one. Cancels a pending request. */
    load(parameters: ApiRequest['parameters'], delay = 0): void {
      const next = { operation: options.operation, parameters }
      if (current && pathOf('', current) === pathOf('', next)) return
      retries.reset()
      start(next, delay)
    },
    /** Cancels a pending request and hides the data, whose place stays empty. */
    clear(): void {
      pending.abort()
      current = undefined
      outcome.clear()
      section.ariaBusy = 'false'
    },
    reload,
    recover(): void {
      if (!find('.notice', HTMLElement, section).hidden) reload()
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

/** Errors that the same request may avoid later; others concern its parameters. */
const RETRYABLE: readonly RatesErrorCode[] = [
  'rate_limited',
  'provider_unavailable',
  'overloaded',
  'internal_error',
]

const MAX_BACKOFF_SECONDS = 60

/** A monthly limit may end after weeks, for which no timer waits. */
const MAX_RETRY_AFTER_SECONDS = 3_600

/** Repeats failed requests by `retry`; `show` receives the seconds that are left. */
function createRetries(retry: () => void, show: (seconds: number) => void) {
  let failures = 0
  return {
    reset(): void {
      failures = 0
    },
    /** Waits for `Retry-After`, or else for 1 s, 2 s, 4 s and so on, at most 60 s; rejects if `signal` aborts. */
    async plan({ code, retryAfter }: RatesError, signal: AbortSignal): Promise<void> {
      if (!RETRYABLE.includes(code)) return
      const seconds = retryAfter || Math.min(2 ** failures, MAX_BACKOFF_SECONDS)
      failures += 1
      const dueAt = Date.now() + seconds * 1_000
      for (let left = seconds; left > 0; left = Math.ceil((dueAt - Date.now()) / 1_000)) {
        show(left)
        if (left > MAX_RETRY_AFTER_SECONDS) return
        await sleep(1_000, signal)
      }
      retry()
    },
  }
}

const ADVICE: Partial<Record<RatesErrorCode, string>> = {
  unauthorized: 'Enter an API key at the top of the page.',
  forbidden: 'Enter another API key at the top of the page.',
  rate_limited: 'Wait, or enter an API key with higher limits at the top of the page.',
}

/** Creates the response or the error message of a panel, whose button calls `retry`. */
function createOutcome<Operation extends keyof Responses>(
  section: HTMLElement,
  { show, failed }: PanelOptions<Operation>,
  retry: () => void,
) {
  find('.data', HTMLElement, section).before(copyOf('#notice'))
  const notice = find('.notice', HTMLElement, section)
  const message = find('[role=alert]', HTMLElement, notice)
  message.id = `${section.id}-notice`
  const old = find('.old', HTMLElement, notice)
  const waiting = find('.waiting', HTMLElement, notice)
  find('button', HTMLButtonElement, notice).addEventListener('click', retry)
  function enter(state: 'loaded' | 'empty'): void {
    section.dataset['state'] = state
    failed?.(undefined)
    notice.hidden = true
    message.textContent = ''
  }
  return {
    /** Shows the response to the request with `path`. */
    succeed(response: Responses[Operation], path: string): void {
      enter('loaded')
      old.textContent = `Below: the response to ${path}, as of ${new Date().toLocaleString('en-GB')}`
      showSource(section, response)
      show(response)
    },
    clear(): void {
      enter('empty')
      old.textContent = ''
    },
    wait(seconds: number): void {
      const isSoon = seconds <= MAX_RETRY_AFTER_SECONDS
      const words = isSoon ? `${seconds} s` : durationInWords(seconds * 1_000)
      waiting.textContent = `${isSoon ? 'Retrying' : 'Possible again'} in ${words}`
    },
    /** Shows an error of a request, or of a response that the page cannot show. */
    fail(error: unknown): RatesError {
      const failure = toRatesError(error)
      const text = textOf(failure)
      const isTemporary = RETRYABLE.includes(failure.code)
      // Data of an earlier response stay while the service is unavailable, marked as old.
      const isStale = isTemporary && old.textContent !== ''
      section.dataset['state'] = isStale ? 'stale' : 'failed'
      old.hidden = !isStale
      failed?.(failure)
      notice.hidden = false
      // Setting the same text again would make screen readers repeat it.
      if (message.textContent !== text) message.textContent = text
      find('.retry', HTMLElement, notice).hidden = !isTemporary
      waiting.textContent = ''
      return failure
    },
  }
}

function toRatesError(error: unknown): RatesError {
  return error instanceof RatesError ? error : new RatesError('internal_error', String(error))
}

function copyOf(template: string): Node {
  return find(template, HTMLTemplateElement).content.cloneNode(true)
}

function textOf({ code, summary }: RatesError): string {
  const advice = ADVICE[code]
  if (advice === undefined) return summary
  return `${summary}${/[.!?]$/.test(summary) ? '' : '.'} ${advice}`
}

function sourcesOf(response: Responses[keyof Responses]): Attribution[] {
  if (!('series' in response)) return [response.source]
  const sources = historiesOf(response).map(({ source }) => source)
  return [...new Map(sources.map((source) => [source.name, source])).values()]
}

function sourceLink({ name, url }: Attribution): HTMLAnchorElement {
  const link = make('a', { rel: 'noopener' }, name)
  // A `javascript:` URL from the API must not become a link; otherwise only the content security policy would block it.
  if (/^https?:\/\//i.test(url)) link.href = url
  return link
}

function showSource(section: HTMLElement, response: Responses[keyof Responses]): void {
  const sources = sourcesOf(response)
  const links = sources.flatMap((source) => [', ', sourceLink(source)]).slice(1)
  find('.source', HTMLElement, section).replaceChildren('Source: ', ...links, '.')
  const isSynthetic = sources.some(({ name }) => /synthetic/i.test(name))
  if (isSynthetic) find('#badge').classList.add('shown')
  if (!('updatedAt' in response)) return
  const published = new Date(response.updatedAt)
  const age = find('.age', HTMLTimeElement, section)
  age.dateTime = published.toISOString()
  age.title = published.toUTCString()
}

/** Creates the line at the foot of a panel with its last request; its tools are loaded at their first use. */
function createRequestLine(section: HTMLElement, api: Api) {
  section.append(copyOf('#foot'))
  const line = find('.asked', HTMLAnchorElement, section)
  const outcome = find('.copied', HTMLElement, section)
  let shown: [ApiRequest, Exchange | undefined] | undefined
  let tools: ReturnType<typeof RequestTools> | undefined

  async function use(form?: string): Promise<void> {
    try {
      const { createRequestTools } = await api.loadMore()
      tools ??= createRequestTools(section, api)
      if (shown) tools.show(...shown)
      if (form !== undefined) await tools.copy(form)
    } catch (error) {
      outcome.textContent = `Not available: ${String(error)}`
    }
  }

  find('.copies', HTMLElement, section).addEventListener('click', ({ target }) => {
    if (target instanceof HTMLButtonElement) void use(target.dataset['form'])
  })
  find('.response', HTMLElement, section).addEventListener('toggle', () => void use())
  return {
    show(apiRequest: ApiRequest, response?: Exchange): void {
      if (!response) outcome.textContent = ''
      // The last response stays until the next.
      shown = [apiRequest, response ?? shown?.[1]]
      const path = pathOf(api.base, apiRequest)
      line.textContent = `GET ${path}`
      line.href = location.origin + path
      tools?.show(...shown)
    },
  }
}
