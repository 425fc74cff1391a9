import { readFileSync } from 'node:fs'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesErrorCode, RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { codes } from '../fixtures/codes.ts'

/** What an entry demands of its answer. */
interface Expectation {
  status: number
  /** The error is `{ error: { code, message } }` with this code. */
  code?: RatesErrorCode
  /** What the message of a versioned error says, among other things. */
  messageIncludes?: string | string[]
  /** The error is `{ error }` with exactly this text. */
  errorText?: string
  body?: Record<string, unknown>
  ratesKeys?: string[]
  headersMust?: Record<string, string>
  /** Names of further checks, some with an argument behind a colon; `bad-inputs.test.ts` has them. */
  invariants?: string[]
}

/** A request of the catalogue. `target` and header values hold tokens that `expand` replaces. */
export interface Entry {
  id: string
  group: string
  method: string
  target: string
  headers?: Record<string, string>
  /** Present where no `Request` can carry the method or the target. */
  door?: 'answer'
  /** What Bun makes of it, which turns an unknown method into GET in `new Request`. */
  bun?: { status: number }
  expect: Expectation
}

/** Which way into the handler: `handler(request)` or `handler.answer(request)`. */
export type Door = 'request' | 'answer'

export interface Question {
  method: string
  target: string
  headers?: Record<string, string> | undefined
}

export interface Reply {
  status: number
  headers: Record<string, string>
  body: string
}

/** The moment at which all entries are asked: a Friday evening, after both publications. */
export const NOW = Date.UTC(2026, 10, 20, 18)

// Not imported: a bundler may turn JSON into an object literal, in which `__proto__` is no key.
export const entries: readonly Entry[] = JSON.parse(
  readFileSync(new URL('./bad-inputs.json', import.meta.url), 'utf8'),
)

export function createCountingHandler() {
  const now = (): number => NOW
  const { latest, history } = fakeProviders({ seed: 1, now })
  let calls = 0
  const counted = <Args extends unknown[], Result>(fetch: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      calls += 1
      return fetch(...args)
    }
  }
  const handler = createRatesHandler({
    now,
    providers: {
      latest: { attribution: latest.attribution, fetchLatest: counted(latest.fetchLatest) },
      history: { attribution: history.attribution, fetchHistory: counted(history.fetchHistory) },
    },
  })
  return { handler, calls: () => calls }
}

/** The text without tokens, but for `{{etag:…}}`; sizes are multiplied by `scale`. */
export function expand(text: string, scale = 1): string {
  return text
    .replace(/\{\{rep\|([^|]*)\|(\d+)\}\}/g, (_, part: string, size) => part.repeat(size * scale))
    .replace(/\{\{codes:(\d+)\}\}/g, (_, size) => codes(size * scale).join(','))
    .replace(/\{\{params:(\d+)\}\}/g, (_, size) => parameters(size * scale).join('&'))
}

export async function toQuestion(
  handler: RatesHandler,
  { method, target, headers }: Question,
  scale = 1,
): Promise<Question> {
  const sent: [string, string][] = []
  for (const [name, value] of Object.entries(headers ?? {})) {
    sent.push([name, await expandTags(handler, expand(value, scale))])
  }
  return { method, target: expand(target, scale), headers: Object.fromEntries(sent) }
}

export async function ask(
  handler: RatesHandler,
  { method, target, headers = {} }: Question,
  door: Door = 'request',
): Promise<Reply> {
  const list = new Headers(Object.entries(headers))
  if (door === 'answer') {
    const answer = await handler.answer({ method, target, header: (name) => list.get(name) })
    const body =
      typeof answer.body === 'string'
        ? answer.body
        : new TextDecoder().decode(answer.body ?? undefined)
    return { status: answer.status, headers: toRecord(answer.headers), body }
  }
  const response = await handler(
    new Request(`http://localhost${target}`, { method, headers: list }),
  )
  return {
    status: response.status,
    headers: toRecord(response.headers),
    body: await response.text(),
  }
}

export async function askEntry(handler: RatesHandler, entry: Entry, door: Door): Promise<Reply> {
  return ask(handler, await toQuestion(handler, entry), door)
}

async function expandTags(handler: RatesHandler, text: string): Promise<string> {
  let expanded = text
  for (const [token, target = ''] of text.matchAll(/\{\{etag:([^}]*)\}\}/g)) {
    const { headers } = await ask(handler, { method: 'GET', target })
    expanded = expanded.replace(token, headers['etag'] ?? '')
  }
  return expanded
}

function toRecord(headers: Iterable<[string, string]>): Record<string, string> {
  return Object.fromEntries([...headers].sort(([one], [other]) => (one < other ? -1 : 1)))
}

function parameters(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `p${index}=1`)
}
