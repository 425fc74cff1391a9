import { pathOf } from './api-request.ts'
import type { ApiRequest, Operation } from './api-request.ts'
import { find } from './elements.ts'
import { Failure } from './failure.ts'
import { createNotice } from './notice.ts'
import { createRequestLine } from './request-line.ts'
import { request } from './request.ts'
import type { Responses } from './request.ts'
import { sleep } from './sleep.ts'

/** Callbacks of a panel. */
export interface PanelCallbacks<K extends Operation> {
  show(response: Responses[K]): void
  /** Called for every failure, and with `undefined` after a success. */
  failed?(failure: Failure | undefined): void
}

/** A section of the page that shows the response to one API request at a time. */
export interface Panel {
  /** Sends a request after `delay` ms (default 0), unless it equals the last one. Cancels a pending request. */
  load(apiRequest: ApiRequest, delay?: number): void
  /** Repeats the last request. */
  reload(): void
  /** Repeats the last request if it failed. */
  recover(): void
}

/** Creates the panel in `section`; `base` is the base path of the API. */
export function createPanel<K extends Operation>(
  section: HTMLElement,
  base: string,
  { show, failed }: PanelCallbacks<K>,
): Panel {
  const notice = createNotice(section, reload)
  const requestLine = createRequestLine(section, base)
  let current: ApiRequest | undefined
  let pending = new AbortController()

  async function run(apiRequest: ApiRequest, delay: number, signal: AbortSignal): Promise<void> {
    try {
      await sleep(delay, signal)
      const response = await request<K>(pathOf(base, apiRequest), signal)
      section.dataset['state'] = 'loaded'
      showSource(section, response)
      show(response)
      failed?.(undefined)
      notice.clear()
    } catch (error) {
      if (signal.aborted) return
      fail(error instanceof Failure ? error : new Failure(String(error)), signal)
    }
    section.ariaBusy = 'false'
  }

  function fail(failure: Failure, signal: AbortSignal): void {
    section.dataset['state'] = 'failed'
    failed?.(failure)
    notice.show(failure)
    const { retryAfter } = failure
    if (retryAfter !== undefined) sleep(retryAfter * 1000, signal).then(reload, () => {})
  }

  function start(apiRequest: ApiRequest, delay: number): void {
    pending.abort()
    pending = new AbortController()
    current = apiRequest
    section.ariaBusy = 'true'
    requestLine.show(apiRequest)
    void run(apiRequest, delay, pending.signal)
  }

  function reload(): void {
    if (current) start(current, 0)
  }

  return {
    load(apiRequest, delay = 0) {
      if (!current || pathOf(base, current) !== pathOf(base, apiRequest)) start(apiRequest, delay)
    },
    reload,
    recover() {
      if (section.dataset['state'] === 'failed') reload()
    },
  }
}

function showSource(section: HTMLElement, { source }: Pick<Responses[Operation], 'source'>): void {
  const link = find('.source a', HTMLAnchorElement, section)
  link.textContent = source.name
  // A `javascript:` URL from the API must not become a link; otherwise only the content security policy would block it.
  if (/^https?:\/\//i.test(source.url)) link.href = source.url
  else link.removeAttribute('href')
}
