import type { RatesDay } from '../api/days.ts'
import { RatesError } from '../errors.ts'
import { errorOf } from '../response-body.ts'

/** A line has at most some 10 kB. */
const MAX_LINE_CHARACTERS = 1_048_576

/**
 * Parses a line of JSON for each day, as it comes.
 *
 * @throws {RatesError} `provider_unavailable` if the body ends early, `internal_error` for another form
 */
export async function* readDays(
  body: Response['body'],
  signal: AbortSignal | undefined,
): AsyncGenerator<RatesDay> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  // A custom `fetch` may not end the body when the signal aborts.
  const onAbort = (): void => void reader?.cancel(signal?.reason).catch(() => undefined)
  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      const part = await reader?.read().catch((cause: unknown) => {
        throw new RatesError('provider_unavailable', 'The connection ended early', { cause })
      })
      signal?.throwIfAborted()
      if (!part || part.done) break
      const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > MAX_LINE_CHARACTERS) throw unexpected(rest.length)
      for (const line of lines) yield toDay(line)
    }
    if (rest !== '') throw new RatesError('provider_unavailable', 'The connection ended early')
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await reader?.cancel().catch(() => undefined)
  }
}

function toDay(line: string): RatesDay {
  let day: unknown
  try {
    day = JSON.parse(line)
  } catch (error) {
    throw unexpected(error)
  }
  if (isDay(day)) return day
  // The service sends it where the rest cannot be loaded.
  throw errorOf(day) ?? unexpected(line)
}

function isDay(day: unknown): day is RatesDay {
  const { date, rates }: { date?: unknown; rates?: unknown } = Object(day)
  return typeof date === 'string' && typeof rates === 'object' && rates !== null
}

function unexpected(cause: unknown): RatesError {
  return new RatesError('internal_error', 'Unexpected line in the response', { cause })
}
