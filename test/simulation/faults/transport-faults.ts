import { SECRET } from './upstream-fault.ts'
import type { Exchange, UpstreamFault } from './upstream-fault.ts'

const BOTH = ['latest', 'history'] as const

/** What goes wrong on the way: connections that are refused, hang, break off or drip. */
export const TRANSPORT_FAULTS: readonly UpstreamFault[] = [
  {
    name: 'connection refused',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.break(fetchFailed('ECONNREFUSED'), 1),
  },
  {
    name: 'rejects with no error',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.break(undefined, 5),
  },
  {
    name: 'slow name resolution',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.break(fetchFailed('EAI_AGAIN'), 20_000),
  },
  {
    name: 'hangs',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.hang(false),
  },
  {
    name: 'hangs and ignores the abort',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.hang(true),
  },
  {
    name: 'answers slowly',
    dataSets: BOTH,
    verdict: 'take',
    answer: (exchange) => exchange.sendHealthy(4_900),
  },
  {
    name: 'stalls after the headers',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.send(stalling(exchange)),
  },
  {
    name: 'reset in the middle of the body',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.send(breakingOff(halfOf(exchange.text()))),
  },
  {
    name: 'body shorter than announced',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.send(breakingOff(exchange.text())),
  },
  {
    name: 'body drips',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.send(dripping(exchange)),
  },
  {
    name: 'body without an end',
    dataSets: BOTH,
    verdict: 'refuse',
    answer: (exchange) => exchange.send(endless()),
  },
]

function fetchFailed(code: string): Error {
  const cause = Object.assign(new Error(`${code} ${SECRET}.example`), { code })
  return new TypeError('fetch failed', { cause })
}

function halfOf(text: string): string {
  return text.slice(0, text.length / 2)
}

function stalling(exchange: Exchange): ReadableStream {
  return new ReadableStream({
    start(controller) {
      exchange.onAbort((reason) => controller.error(reason))
    },
  })
}

function breakingOff(text: string): ReadableStream {
  const parts = [new TextEncoder().encode(text)]
  return new ReadableStream({
    pull(controller) {
      const part = parts.pop()
      if (part) controller.enqueue(part)
      else controller.error(fetchFailed('UND_ERR_SOCKET'))
    },
  })
}

/** Twenty parts, one every 0.7 s: fourteen seconds in all. */
function dripping(exchange: Exchange): ReadableStream {
  const bytes = new TextEncoder().encode(exchange.text())
  const size = Math.ceil(bytes.length / 20)
  let [sent, hasEnded] = [0, false]
  return new ReadableStream({
    start(controller) {
      exchange.onAbort((reason) => {
        hasEnded = true
        controller.error(reason)
      })
    },
    pull: (controller) =>
      new Promise((resolve) => {
        exchange.after(700, () => {
          resolve()
          if (hasEnded) return
          controller.enqueue(bytes.subarray(sent, sent + size))
          sent += size
          if (sent >= bytes.length) controller.close()
        })
      }),
    cancel() {
      hasEnded = true
    },
  })
}

function endless(): ReadableStream {
  const part = new Uint8Array(512 * 1024).fill(32)
  return new ReadableStream({
    pull: (controller) => controller.enqueue(part),
  })
}
