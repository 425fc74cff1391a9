import { request } from './request.ts'
import type { Responses } from './request.ts'
import { find } from './elements.ts'
import { Failure } from './failure.ts'
import { createNotice } from './notice.ts'
import { sleep } from './sleep.ts'
import { pathOf } from './api-request.ts'
import type { Operation, ApiRequest } from './api-request.ts'
import { createRequestLine } from './request-line.ts'

/** What a panel shows of the answers to its questions. */
export interface Showing<K extends Operation> {
  show(record: Responses[K]): void
  /** Told of every failure; `undefined` once there is an answer. */
  failed?(failure: Failure | undefined): void
}

/** A part of the page that shows the answer to one question at a time. */
export interface Panel {
  /** Asks, unless it has just asked the same; the answer to what it asked before is not waited for any more. */
  ask(question: ApiRequest, delay?: number): void
  /** Asks the same again. */
  again(): void
  /** Asks the same again if that failed. */
  recover(): void
}

/** The panel in `section`, whose questions go to the API below the base path `base`. */
export function createPanel<K extends Operation>(
  section: HTMLElement,
  base: string,
  { show, failed }: Showing<K>,
): Panel {
  const notice = createNotice(section, again)
  const requestLine = createRequestLine(section, base)
  let asked: ApiRequest | undefined
  let stop = new AbortController()

  async function answer(question: ApiRequest, delay: number, signal: AbortSignal): Promise<void> {
    try {
      await sleep(delay, signal)
      const record = await request<K>(pathOf(base, question), signal)
      section.dataset['state'] = 'answered'
      showSource(section, record)
      show(record)
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
    if (retryAfter !== undefined) sleep(retryAfter * 1000, signal).then(again, () => {})
  }

  function start(question: ApiRequest, delay: number): void {
    stop.abort()
    stop = new AbortController()
    asked = question
    section.ariaBusy = 'true'
    requestLine.show(question)
    void answer(question, delay, stop.signal)
  }

  function again(): void {
    if (asked) start(asked, 0)
  }

  return {
    ask(question, delay = 0) {
      if (!asked || pathOf(base, asked) !== pathOf(base, question)) start(question, delay)
    },
    again,
    recover() {
      if (section.dataset['state'] === 'failed') again()
    },
  }
}

function showSource(section: HTMLElement, { source }: Pick<Responses[Operation], 'source'>): void {
  const link = find('.source a', HTMLAnchorElement, section)
  link.textContent = source.name
  // Nothing that the API answers is to run here: only the policy of the page would stop a `javascript:`.
  if (/^https?:\/\//i.test(source.url)) link.href = source.url
  else link.removeAttribute('href')
}
