import { describe, expect, it } from 'vitest'

import { createKey } from '../../src/access/index.ts'
import type { KeyRecord } from '../../src/access/index.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { createLog } from '../../src/log.ts'
import type { RatesEvent } from '../../src/index.ts'
import { createMetrics, withAccessLog, withRequestIds } from '../../src/monitoring/index.ts'
import { market } from '../fixtures/service.ts'
import { wholeNumbersFrom } from './fleet.ts'
import { openGuarded, sendersTo } from './service.ts'

const ADDRESS = '203.0.113.77'
const ROUNDS = 1_500

/** What the store, the counters and a provider may do: most of it quotes the secrets. */
const FAULTS = 'none, throws, rejects, quotes in a cause, invalid record, has properties'.split(
  ', ',
)

/** Returns an error that quotes everything in one of several ways. */
function leaking(fault: string, texts: readonly string[]): Error {
  const text = texts.join(' | ')
  if (fault === 'quotes in a cause') {
    return new Error('driver failed', { cause: new Error(`SELECT * WHERE key = '${text}'`) })
  }
  if (fault === 'has properties') {
    return Object.assign(new Error('driver failed'), { query: text, parameters: texts })
  }
  return Object.assign(new Error(`failed for ${text}`), { name: `Error of ${texts[0]}` })
}

/** Returns all texts reachable from `value`, also in errors, their stacks and symbols. */
function textsIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || seen.has(value)) return []
  seen.add(value)
  return Reflect.ownKeys(value).flatMap((name) => {
    const inner: unknown = Reflect.get(value, name)
    return [String(name), ...textsIn(inner, seen)]
  })
}

describe('no key and no client address', async () => {
  const created = await Promise.all(Array.from({ length: 40 }, createKey))
  const secrets = { keys: created.map(({ key }) => key), hashes: created.map(({ hash }) => hash) }

  /** Texts that must not appear, in lower case: both halves of the random part of keys, and keys in Base64. */
  function forbidden(): string[] {
    const parts = secrets.keys.flatMap((key) => [key.slice(4, 16), key.slice(16, 34), btoa(key)])
    return [...parts.map((part) => part.toLowerCase()), ADDRESS]
  }

  it(`appears in responses, events, log lines, states or errors of ${ROUNDS} requests`, async () => {
    const random = wholeNumbersFrom(7)
    const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] ?? fail()
    const fault = { store: 'none', counters: 'none', giveBack: 'none', client: 'none' }
    let isBroken = false
    const written: string[] = []
    const events: RatesEvent[] = []
    /** Fails with what the function was called with, and with keys that it cannot have. */
    const meet = (name: keyof typeof fault, argument: string): void => {
      const kind = fault[name]
      if (kind === 'none' || kind === 'invalid record') return
      throw leaking(kind, [pick(secrets.keys), argument, ...secrets.hashes.slice(0, 2)])
    }
    const known = new Map(created.slice(0, 20).map(({ hash }, index) => [hash, index]))
    const { handler, runtime } = openGuarded(
      {
        plans: { public: '40/min', pro: '20/min, 300/month' },
        queryParameters: ['access_key'],
        keys: {
          find(hash): KeyRecord | undefined {
            meet('store', hash)
            const index = known.get(hash)
            if (index === undefined) return undefined
            const id = fault.store === 'invalid record' ? pick(secrets.keys) : `customer ${index}`
            return { id, plan: pick(['pro', 'gone']), origins: ['https://a.example'] }
          },
        },
        client({ client = '' }) {
          meet('client', client)
          return client
        },
        counters: {
          open: () => ({
            take(client, limits) {
              meet('counters', client)
              if (fault.counters === 'invalid record') return { granted: true, states: [] }
              const wait = pick([0, 0, 1_500])
              const states = limits.map(() => ({ remaining: 1, reset: 10, wait }))
              return { granted: wait === 0, states, giveBack: () => meet('giveBack', client) }
            },
            close() {},
          }),
        },
      },
      {
        providers: {
          latest: {
            ...market.latest,
            attribution: {
              ...market.latest.attribution,
              get name() {
                if (isBroken) throw new Error('broken')
                return 'Market'
              },
            },
          },
          history: { ...market.history, fetchHistory: () => Promise.reject(new Error('down')) },
        },
        onEvent: (event) => void events.push(event),
        routes: openExchangeRates({ basePath: '/api/x' }),
      },
    )
    const logs = (['json', 'text'] as const).map((format) =>
      createLog({
        format,
        write: (line) => void written.push(line),
        // Far apart, so that no line is left out.
        now: () => runtime.now() + written.length * 3_600_000,
      }),
    )
    const metrics = createMetrics(handler)
    const write = (line: string): void => void written.push(line)
    const { send } = sendersTo(withRequestIds(withAccessLog(handler, { write })))

    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of ['store', 'counters', 'giveBack', 'client'] as const) {
        fault[name] = random(3) === 0 ? pick(FAULTS) : 'none'
      }
      isBroken = round > 10 && random(20) === 0
      const key = pick([...secrets.keys, pick(secrets.keys).slice(0, 39), `${pick(secrets.keys)}x`])
      const path = pick([
        '/v1/latest?',
        '/v1/convert?from=USD&to=EUR,GBP,x1&',
        '/v1/convert?from=USD&to=EUR&',
        '/v1/history?from=USD&to=EUR&',
        '/v1/status?',
        '/rates?',
        '/nothing?',
        '/x/api/latest.json?',
        '/x/api/nothing?',
      ])
      const sent = pick<{ headers?: Record<string, unknown>; query?: string }>([
        { headers: { 'x-api-key': key } },
        { headers: { authorization: `Bearer ${key}` } },
        { headers: { authorization: `Bearer ${key}`, 'x-api-key': pick(secrets.keys) } },
        { headers: { 'x-api-key': key, origin: pick(['https://a.example', 'https://b.example']) } },
        { headers: { 'x-api-key': [key] } },
        { query: `access_key=${key}` },
        { query: `access_key=${key}&access_key=${key}` },
        {},
      ])
      const { headers, text } = await send({
        target: path + (sent.query ?? ''),
        method: pick(['GET', 'GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE']),
        headers: sent.headers ?? {},
        client: random(2) === 0 ? ADDRESS : undefined,
      })
      written.push(text, ...headers.flat())
      const misplaced = await send(keyAnywhere(spell(key, random), pick))
      // A body may repeat an invalid parameter.
      written.push(...misplaced.headers.flat())
      if (random(4) === 0) await runtime.advance(random(20_000))
    }
    for (const event of events) for (const log of logs) log(event)
    written.push(...textsIn(handler.inspect()), ...textsIn(events), metrics.text())

    const kinds = new Set(events.map(({ type }) => type))
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        'access_refused',
        'limit_reached',
        'counters_failed',
        'internal_error',
      ]),
    )
    const operations = events.map((event) => 'operation' in event && event.operation)
    expect(new Set(operations)).toEqual(
      new Set([false, 'take', 'give_back', 'find_key', 'find_client']),
    )
    const all = decoded(written.join('\n')).toLowerCase()
    expect(all.length).toBeGreaterThan(100_000)
    expect(forbidden().filter((each) => all.includes(each))).toEqual([])
  })
})

function fail(): never {
  throw new Error('not reached')
}

/** Returns a key as clients may send it: in upper case, or with some characters percent-encoded. */
function spell(key: string, random: (limit: number) => number): string {
  if (random(3) === 1) return key.toUpperCase()
  return Array.from(key, (character) =>
    random(6) === 0 ? `%${character.charCodeAt(0).toString(16)}` : character,
  ).join('')
}

/** Returns a request with a key where none belongs. */
function keyAnywhere(key: string, pick: <Item>(items: readonly Item[]) => Item) {
  const [before, after] = [0, 1].map(() =>
    pick(['', 'a b', '%', '=', ';x=', '&', 'é\u2028', '"\\']),
  )
  const target = pick([
    `/v1/latest?${encodeURIComponent(before ?? '')}=${key}&x`,
    `/v1/latest?x&${key}`,
    `/v1/latest?x=1;y=${before}${key}${after}`,
    `/v1/convert?from=USD&to=${key}`,
    `/x/api/convert/5/EUR/${key}`,
    `/x/api/historical/${key}.json`,
    '/v1/latest',
  ])
  const name = pick('user-agent referer x-request-id x-api-key authorization origin'.split(' '))
  const url = `https://a.example/?k=${key}#a`
  const value = pick([key, `Bearer ${key}`, `${before}${key} ${after}`, url])
  return { target, headers: { [name]: value }, client: ADDRESS }
}

/** Returns `text` without escapes, as a reader of a log might decode it. */
function decoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}
