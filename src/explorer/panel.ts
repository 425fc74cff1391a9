import { ask } from './ask.ts'
import type { Records } from './ask.ts'
import { copyOf, find } from './elements.ts'
import { Failure } from './failure.ts'
import { pathOf } from './question.ts'
import type { Operation, Question } from './question.ts'
import { createRequestLine } from './request-line.ts'

/** What a panel shows of the answers to its questions. */
export interface Showing<K extends Operation> {
  show(record: Records[K]): void
  /** Told of every failure; `undefined` once there is an answer. */
  failed?(failure: Failure | undefined): void
}

/** A part of the page that shows the answer to one question at a time. */
export interface Panel {
  /** Asks, unless it has just asked the same; the answer to what it asked before is not waited for any more. */
  ask(question: Question, delay?: number): void
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
  let asked: Question | undefined
  let stop = new AbortController()

  async function answer(question: Question, delay: number, signal: AbortSignal): Promise<void> {
    try {
      await pause(delay, signal)
      const record = await ask<K>(pathOf(base, question), signal)
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
    notice.tell(failure)
    const { retryAfter } = failure
    if (retryAfter !== undefined) pause(retryAfter * 1000, signal).then(again, () => {})
  }

  function start(question: Question, delay: number): void {
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

function createNotice(section: HTMLElement, again: () => void) {
  find('.data', HTMLElement, section).before(copyOf('notice'))
  const box = find('.notice', HTMLElement, section)
  const message = find('[role=alert]', HTMLElement, box)
  message.id = `${section.id}-notice`
  const waiting = find('.waiting', HTMLElement, box)
  find('button', HTMLButtonElement, box).addEventListener('click', again)
  return {
    tell({ message: text, retryAfter, isFinal }: Failure): void {
      box.hidden = false
      // The same again would be read out again.
      if (message.textContent !== text) message.textContent = text
      find('.retry', HTMLElement, box).hidden = isFinal
      waiting.textContent =
        retryAfter === undefined ? '' : `Asks again by itself in ${retryAfter} s.`
    },
    clear(): void {
      box.hidden = true
      message.textContent = ''
    },
  }
}

function showSource(section: HTMLElement, { source }: { source: { name: string; url: string } }) {
  const link = find('.source a', HTMLAnchorElement, section)
  link.textContent = source.name
  link.href = source.url
}

/** Resolves after so many ms; rejects once `signal` is aborted. */
function pause(duration: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, duration)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
