import { readFileSync } from 'node:fs'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesErrorCode, RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { wholeBody } from '../whole-body.ts'
import { expand } from './expand.ts'

export { expand }

interface Expectation {
  status: number
  /** The error is `{ error: { code, message } }` with this code. */
  code?: RatesErrorCode
  /** Facts that the message of a versioned error contains. */
  messageIncludes?: string | string[]
  errorText?: string
  body?: Record<string, unknown>
  ratesKeys?: string[]
  headersMust?: Record<string, string>
  /** Names of further checks in `requests.test.ts`, some with an argument after a colon. */
  invariants?: string[]
}

/** A request of the catalogue. `expand` replaces tokens in `target` and header values. */
export interface Entry {
  id: string
  method: string
  target: string
  headers?: Record<string, string>
  /** Present if no `Request` can have the method or the target. */
  door?: 'answer'
  /** Expected status on Bun, whose `Request` turns an unknown method into GET. */
  bun?: { status: number }
  expect: Expectation
}

/** The entry point: `handler(request)` or `handler.answer(request)`. */
export type Door = 'request' | 'answer'

export interface RequestData {
  method: string
  target: string
  headers?: Record<string, string> | undefined
}

export interface ResponseData {
  status: number
  headers: Record<string, string>
  body: string
}

/** The time of all requests: a Friday evening, after both publications. */
export const NOW = Date.UTC(2026, 10, 20, 18)

// Not imported: a bundler may turn JSON into an object literal, where `__proto__` sets the prototype.
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

export async function toRequestData(
  handler: RatesHandler,
  { method, target, headers }: RequestData,
  scale = 1,
): Promise<RequestData> {
  const sent: [string, string][] = []
  for (const [name, value] of Object.entries(headers ?? {})) {
    sent.push([name, await expandTags(handler, expand(value, scale))])
  }
  return { method, target: expand(target, scale), headers: Object.fromEntries(sent) }
}

export async function send(
  handler: RatesHandler,
  { method, target, headers = {} }: RequestData,
  door: Door = 'request',
): Promise<ResponseData> {
  const list = new Headers(Object.entries(headers))
  if (door === 'answer') {
    const raw = await handler.answer({ method, target, header: (name) => list.get(name) })
    const body = await wholeBody(raw.body)
    return { status: raw.status, headers: toRecord(raw.headers), body }
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

export async function sendEntry(
  handler: RatesHandler,
  entry: Entry,
  door: Door,
): Promise<ResponseData> {
  return send(handler, await toRequestData(handler, entry), door)
}

async function expandTags(handler: RatesHandler, text: string): Promise<string> {
  let expanded = text
  for (const [token, target = ''] of text.matchAll(/\{\{etag:([^}]*)\}\}/g)) {
    const { headers } = await send(handler, { method: 'GET', target })
    expanded = expanded.replace(token, headers['etag'] ?? '')
  }
  return expanded
}

function toRecord(headers: Iterable<[string, string]>): Record<string, string> {
  return Object.fromEntries([...headers].sort(([one], [other]) => (one < other ? -1 : 1)))
}
