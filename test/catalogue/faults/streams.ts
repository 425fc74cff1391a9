import type { Exchange } from './upstream.ts'

const CHUNK = 64 * 1024

/** Bodies that never end well, and what became of them. */
export interface Tap {
  /** Every body so far. */
  bodies: { pulled: number; isCancelled: boolean }[]
  /** Answers with a body of `length` bytes that repeats `filling`. */
  pour(filling: string, length: number, headers?: Record<string, string>): Response
  /** Answers with the first bytes and then never again; where `heedsAbort`, the end of the call ends it. */
  stall(exchange: Exchange, heedsAbort: boolean): Response
  /** Answers with one byte of `text` every `gap` ms. */
  drip(exchange: Exchange, text: string, gap: number): Response
  /** Answers with `text`, and then breaks. */
  breakOff(text: string, error: Error, headers?: Record<string, string>): Response
}

type Body = Tap['bodies'][number]
type Source = UnderlyingDefaultSource<Uint8Array<ArrayBuffer>>
type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>

/** A tap whose bodies are counted. */
export function createTap(): Tap {
  const bodies: Body[] = []

  function respond(
    toSource: (body: Body) => Source,
    headers: Record<string, string> = {},
  ): Response {
    const body = { pulled: 0, isCancelled: false }
    bodies.push(body)
    const source = toSource(body)
    const cancel = (): void => {
      body.isCancelled = true
    }
    // Nothing is pulled before it is read.
    const stream = new ReadableStream({ ...source, cancel }, { highWaterMark: 0 })
    return new Response(stream, { headers: { 'content-type': 'application/json', ...headers } })
  }

  return {
    bodies,
    pour(filling, length, headers) {
      const chunk = encode(filling.repeat(Math.ceil(CHUNK / filling.length)).slice(0, CHUNK))
      const toSource = (body: Body): Source => ({
        pull(controller) {
          controller.enqueue(chunk.slice())
          body.pulled += chunk.length
          if (body.pulled >= length) controller.close()
        },
      })
      return respond(toSource, headers)
    },
    stall: ({ signal, good }, heedsAbort) =>
      respond(() => ({
        start(controller) {
          controller.enqueue(encode(good.slice(0, 100)))
          if (heedsAbort) endWith(signal, controller)
        },
        // Undefined would ask for another pull.
        pull: () => new Promise<void>(() => {}),
      })),
    drip: ({ machine, signal }, text, gap) =>
      respond((body) => ({
        start: (controller) => endWith(signal, controller),
        pull: (controller) =>
          new Promise((resolve) => {
            machine.after(gap, () => {
              if (!signal.aborted) controller.enqueue(encode(text[body.pulled] ?? ' '))
              body.pulled += 1
              resolve()
            })
          }),
      })),
    breakOff: (text, error, headers) =>
      respond(
        (body) => ({
          pull(controller) {
            if (body.pulled > 0) controller.error(error)
            else controller.enqueue(encode(text))
            body.pulled += text.length
          },
        }),
        headers,
      ),
  }
}

/** `fetch` breaks a body off when its call is aborted. */
function endWith(signal: AbortSignal, controller: Controller): void {
  signal.addEventListener('abort', () => controller.error(signal.reason), { once: true })
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
