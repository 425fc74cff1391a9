import { RatesError } from 'ratesmith/client'
import type { Attribution } from 'ratesmith/client'

import type { FieldOf } from '../src/response-body.ts'
import { historiesOf, pathOf } from './api.ts'
import type { ApiRequest, Responses } from './api.ts'
import { createCode } from './code.ts'
import { find, make } from './dom.ts'
import type { Api } from './page-api.ts'
import type { Exchange } from './request.ts'
import { MAX_RETRY_DELAY_MS, createRetries, isRetryable, sleep } from './retries.ts'
import { timeInWords } from './times.ts'

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
  /** Returns the parameters of the request to send after a failed one, which is then not shown. */
  instead?(error: RatesError): ApiRequest['parameters'] | undefined
}

/** Creates the panel in `section`, which shows the response to one request at a time. */
// oxlint-disable-next-line max-lines-per-function -- one state machine over its closures.
export function createPanel<Operation extends keyof Responses>(
  section: HTMLElement,
  api: Api,
  options: PanelOptions<Operation>,
) {
  const outcome = createOutcome(section, options, reload)
  const code = createCode(section, api)
  const retries = createRetries(reload, outcome.wait)
  let current: ApiRequest<Operation> | undefined
  let pending = new AbortController()

  async function run(apiRequest: ApiRequest<Operation>, delay: number): Promise<void> {
    const { signal } = pending
    const observe = (exchange: Exchange): void => {
      if (!signal.aborted) code.show(apiRequest, exchange)
    }
    try {
      if (delay > 0) await sleep(delay, signal)
      const field = FIELDS[options.operation]
      const path = pathOf('', apiRequest)
      const response = await api.request<Responses[Operation]>(path, field, { signal, observe })
      retries.reset()
      outcome.succeed(response)
    } catch (error) {
      if (signal.aborted) return
      const failure = toRatesError(error)
      const other = options.instead?.(failure)
      if (other) return load(other)
      outcome.fail(failure)
      api.failed(failure)
      retries.plan(failure, signal).catch(() => {})
    }
    section.ariaBusy = 'false'
  }

  function start(apiRequest: ApiRequest<Operation>, delay: number): void {
    pending.abort()
    pending = new AbortController()
    current = apiRequest
    section.ariaBusy = 'true'
    code.show(apiRequest)
    void run(apiRequest, delay)
  }

  function reload(): void {
    if (current) start(current, 0)
  }

  /** Sends a request after `delay` ms, unless it equals the last one. Cancels a pending request. */
  function load(parameters: ApiRequest['parameters'], delay = 0): void {
    const next = { operation: options.operation, parameters }
    if (current && pathOf('', current) === pathOf('', next)) return
    retries.reset()
    start(next, delay)
  }

  return {
    load,
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

/** Creates the response or the error message of a panel, whose button calls `retry`. */
function createOutcome<Operation extends keyof Responses>(
  section: HTMLElement,
  { show, failed }: PanelOptions<Operation>,
  retry: () => void,
) {
  find('.data', HTMLElement, section).before(copyOf('#notice'))
  section.append(copyOf('#foot'))
  const notice = find('.notice', HTMLElement, section)
  const message = find('[role=alert]', HTMLElement, notice)
  message.id = `${section.id}-notice`
  const waiting = find('.waiting', HTMLElement, notice)
  find('button', HTMLButtonElement, notice).addEventListener('click', retry)
  let hasData = false
  function enter(state: 'loaded' | 'empty'): void {
    section.dataset['state'] = state
    hasData = state === 'loaded'
    failed?.(undefined)
    notice.hidden = true
    message.textContent = ''
  }
  return {
    succeed(response: Responses[Operation]): void {
      enter('loaded')
      showSource(section, response)
      show(response)
    },
    clear: (): void => enter('empty'),
    wait(delay: number): void {
      waiting.textContent =
        delay > MAX_RETRY_DELAY_MS
          ? `Possible again on ${timeInWords(Date.now() + delay)}`
          : `Retrying in ${delay / 1_000} s`
    },
    /** Shows an error of a request, or of a response that the page cannot show. */
    fail(failure: RatesError): void {
      const isTemporary = isRetryable(failure)
      // Data of an earlier response stay while the service is unavailable, marked as old.
      const isStale = isTemporary && hasData
      const text = textOf(failure) + (isStale ? ' Below are the last rates received.' : '')
      section.dataset['state'] = isStale ? 'stale' : 'failed'
      failed?.(failure)
      notice.hidden = false
      // Setting the same text again would make screen readers repeat it.
      if (message.textContent !== text) message.textContent = text
      find('.retry', HTMLElement, notice).hidden = !isTemporary
      waiting.textContent = ''
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
  const sentence = /[.!?]$/.test(summary) ? summary : `${summary}.`
  const advice = ' Wait, or enter an API key with higher limits in the menu ⋯ above.'
  return code === 'rate_limited' ? sentence + advice : sentence
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
  find('.source', HTMLElement, section).replaceChildren('Source: ', ...links)
  const isSynthetic = sources.some(({ name }) => /synthetic/i.test(name))
  if (isSynthetic) find('#badge').classList.add('shown')
}
