import { expect } from 'vitest'

import { CACHE_CONTROL, HISTORY_SOURCE, LATEST_SOURCE } from '../../fixtures/contract.ts'
import { crossRate, inWindow, pairPoints, product, statsOf, toExact } from '../../oracle.ts'
import type { Day, Rates } from '../../oracle.ts'
import { expectSame } from './expect-same.ts'
import type { Truth } from './truth.ts'
import type { Reply } from './world.ts'

const SENTENCE = 'The exchange-rate provider is unavailable. Please retry shortly.'

const DISCLAIMER =
  'Mid-market reference rates for information only, not an offer to exchange currency.'

const JSON_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'x-content-type-options': 'nosniff',
}

/** Every header that an answer may have. */
const KNOWN_HEADERS = new Set([
  ...Object.keys(JSON_HEADERS),
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'cache-status',
  'content-length',
  'cross-origin-resource-policy',
  'etag',
  'last-modified',
  'retry-after',
])

/** How fresh an answer says that it is. */
export type Freshness = 'fresh' | 'stale' | 'loaded'

const CACHE_STATUS: Record<Freshness, RegExp> = {
  fresh: /^rates; hit; ttl=\d+$/,
  stale: /^rates; hit; ttl=-[1-9]\d*; detail=stale$/,
  loaded: /^rates; fwd=miss$/,
}

/** Demands that `reply` is the documented 502. */
export function expectUnavailable({ target, status, headers, body }: Reply): void {
  const isVersioned = target.startsWith('/api/v1/')
  expectSame(status, 502, body)
  const error = isVersioned ? { code: 'provider_unavailable', message: SENTENCE } : SENTENCE
  expectSame(body, JSON.stringify({ error }))
  for (const [name, value] of Object.entries(JSON_HEADERS)) expectSame(headers[name], value)
  expectSame(headers['cache-control'], 'no-store')
  expectSame(headers['etag'], undefined)
  const retryAfter = headers['retry-after'] ?? ''
  expectSame(/^([1-9]\d?|[12]\d\d|300)$/.test(retryAfter), true, `retry-after: ${retryAfter}`)
}

/** Demands that `reply` is a refusal with `status` that names `code`, and is not kept by anyone. */
export function expectRefusal({ target, ...reply }: Reply, status: number, code: string): void {
  expect(reply.status, `${target}: ${reply.body}`).toBe(status)
  expect(reply.headers['cache-control']).toBe('no-store')
  const { error } = JSON.parse(reply.body)
  expect(typeof error === 'string' ? error : error.message).toContain(code)
}

/** Demands that `reply` is 200, says nothing but `truth`, and says honestly how fresh that is. */
export function expectGood(reply: Reply, truth: Truth, freshness: readonly Freshness[]): void {
  const { target, status, headers, body } = reply
  expectSame(status, 200, `${target}: ${body}`)
  const dataSet = target.includes('/history') ? 'history' : 'latest'
  for (const [name, value] of Object.entries(JSON_HEADERS)) expectSame(headers[name], value)
  expectSame(headers['cache-control'], CACHE_CONTROL[dataSet])
  expectSame(/^"[\w-]+"$/.test(headers['etag'] ?? ''), true, 'the tag')
  const cacheStatus = headers['cache-status'] ?? ''
  const isHonest = freshness.some((each) => CACHE_STATUS[each].test(cacheStatus))
  expectSame(isHonest, true, `${target}: ${cacheStatus} is not ${freshness.join(' or ')}`)
  const updatedAt = new Date(truth.latest.updatedAt).toUTCString()
  expectSame(headers['last-modified'], dataSet === 'latest' ? updatedAt : undefined)
  const wanted = wantedBody(target, truth)
  if (body !== wanted.text) expect(JSON.parse(body), target).toEqual(wanted.body)
}

/** Demands that `reply` has only headers of ours, and CORS headers only where they belong. */
export function expectOwnHeaders({ target, headers }: Reply): void {
  const foreign = Object.keys(headers).filter((name) => !KNOWN_HEADERS.has(name))
  expectSame(foreign.join(), '', 'headers that are not ours')
  const origin = target.startsWith('/api/v1/') ? '*' : undefined
  expectSame(headers['access-control-allow-origin'], origin)
}

/** The ttl of `Cache-Status`, in seconds. */
export function ttlOf({ headers }: Reply): number {
  return Number(/ttl=(-?\d+)/.exec(headers['cache-status'] ?? '')?.[1] ?? NaN)
}

interface WantedBody {
  body: object
  text: string
}

/** What the bodies of one truth depend on, as text, and the bodies so far. */
interface Grounds {
  latest: string
  history: string
  bodies: Map<string, WantedBody>
}

const known = new WeakMap<Truth, Grounds>()
const computed = new Map<string, WantedBody>()

/** The body that the contract asks for, computed once for every question and all that its answer depends on. */
function wantedBody(target: string, truth: Truth): WantedBody {
  const grounds = known.get(truth) ?? {
    latest: JSON.stringify(truth.latest),
    history: JSON.stringify([truth.days, truth.today]),
    bodies: new Map<string, WantedBody>(),
  }
  known.set(truth, grounds)
  const wanted = grounds.bodies.get(target) ?? computeOnce(target, truth, grounds)
  grounds.bodies.set(target, wanted)
  return wanted
}

function computeOnce(target: string, truth: Truth, grounds: Grounds): WantedBody {
  const key = `${target} ${target.includes('/history') ? grounds.history : grounds.latest}`
  const wanted = computed.get(key) ?? toWanted(computeBody(target, truth))
  computed.set(key, wanted)
  return wanted
}

function toWanted(body: object): WantedBody {
  return { body, text: JSON.stringify(body) }
}

/** The body that the contract asks for, computed without anything of `src/`. */
function computeBody(target: string, truth: Truth): object {
  const { pathname, searchParams } = new URL(target, 'http://localhost')
  const [base = 'USD', from = '', to = ''] = ['base', 'from', 'to'].map(
    (name) => searchParams.get(name) ?? undefined,
  )
  if (pathname === '/api/v1/history') return historyBody(truth, from, to)
  const { updatedAt, nextUpdateAt } = truth.latest
  const table = exactRates(truth)
  const isVersioned = pathname.startsWith('/api/v1/')
  const { name, url } = LATEST_SOURCE
  const source = isVersioned ? { source: LATEST_SOURCE } : { provider: `${name} (${url})` }
  if (pathname.endsWith('/convert')) {
    const amount = Number(searchParams.get('amount') ?? 1)
    const rate = crossRate(table, 'USD', from, to)
    return { from, to, amount, rate, result: product(amount, rate), updatedAt, ...source }
  }
  const symbols = searchParams.get('symbols')?.split(',') ?? Object.keys(truth.latest.rates)
  const rates = Object.fromEntries(
    symbols.map((code) => [code, crossRate(table, 'USD', base, code)]),
  )
  const times = { updatedAt, nextUpdateAt }
  return isVersioned
    ? { base, ...times, rates, ...source, disclaimer: DISCLAIMER }
    : { base, rates, ...times, ...source }
}

/** A month is what is asked for everywhere. */
function historyBody(truth: Truth, from: string, to: string): object {
  const period = '1M'
  const dates = Object.keys(truth.days)
    .filter((date) => date <= truth.today)
    .toSorted()
  const days: Day[] = dates.map((date) => ({
    date,
    rates: new Map(
      Object.entries({ EUR: 1, ...truth.days[date] }).flatMap(([code, rate]) =>
        code === from || code === to ? [[code, toExact(rate)]] : [],
      ),
    ),
  }))
  const points = inWindow(pairPoints(days, from, to), dates.at(-1) ?? '', period)
  return { from, to, period, points, stats: statsOf(points), source: HISTORY_SOURCE }
}

function exactRates({ latest }: Truth): Rates {
  return new Map(Object.entries(latest.rates).map(([code, rate]) => [code, toExact(rate)]))
}
