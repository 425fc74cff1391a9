import { describe, expect, it } from 'vitest'

import { frankfurter } from '../../src/compat/frankfurter.ts'
import { wholeNumbersFrom } from '../access/fleet.ts'
import { createBank } from '../fixtures/bank.ts'
import { market, openService } from '../fixtures/service.ts'
import { operations } from '../openapi/document.ts'
import { HOUR, finish } from '../virtual-runtime.ts'

/** An hour after the first publication, and an hour before that of the bank. */
const START = Date.UTC(2026, 10, 20, 16)

function open(responseCacheBytes?: number) {
  const bank = createBank({
    codes: ['USD', 'AED', 'KWD'],
    now: () => service.runtime.now(),
    maxDays: 366,
    hasSeries: false,
    publishedAt: (day) => Date.parse(`${day}T17:00:00Z`),
  })
  const providers = { latest: market.latest, history: [market.history, bank] }
  const service = openService({ start: START, providers, responseCacheBytes })
  /** Returns what two different answers differ in. */
  async function ask(target: string): Promise<string> {
    const response = await finish(service.runtime, service.get(`/api${target}`))
    const text = await finish(service.runtime, response.text())
    return [response.status, response.headers.get('content-type'), text].join('\n')
  }
  return { ...service, ask }
}

/** Values of every parameter, some with the same meaning, and some that other parameters contradict. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  base: ['USD', 'eur', 'AED'],
  from: ['USD', 'eur', 'AED'],
  to: ['JPY', 'JPY,', 'EUR,JPY', 'JPY,EUR', 'AED,JPY'],
  symbols: ['EUR,JPY', 'JPY,EUR', 'AED', ''],
  amount: ['1', '1.0', '2', '0.005'],
  date: ['2026-11-13', '2026-11-15', '2020-02-29'],
  rule: ['on-or-before', 'next', 'exact', 'period-end'],
  maxAge: ['0', '1', '9'],
  source: ['ecb', 'bank'],
  change: ['1D', '1W', '2026-11-13'],
  reverse: ['true', 'false'],
  round: ['minor', 'cash'],
  expand: ['sources'],
  format: ['json', 'csv', 'ndjson'],
  period: ['1W', '1M', '5Y'],
  start: ['2026-10-30', '2026-11-16'],
  end: ['2026-11-17', '2026-11-19'],
  interval: ['day', 'week', 'month'],
  value: ['last', 'average', 'high'],
  fill: ['previous'],
  layout: ['long', 'wide'],
}

/** With caches and without, for tests that only read. */
const [cached, plain] = [open(), open(0)]

const asking = operations.filter(({ path, parameters }) => {
  return parameters.length > 0 && path !== '/v1/quote'
})

describe.each(asking)('responses of $operationId', ({ path, parameters }) => {
  const names = parameters.map(({ name }) => name).filter((name) => !/^(quote|context)$/.test(name))

  it.each(names)(
    'are never those of another %s, however often both are requested',
    async (name) => {
      const below = wholeNumbersFrom(names.indexOf(name))
      const pick = (list: readonly string[] = []): string => list[below(list.length)] ?? ''
      const toTarget = (query: object): string => `${path}?${new URLSearchParams({ ...query })}`
      const bodies = new Set<string>()
      for (let round = 0; round < 12; round += 1) {
        // Few others, because most together are an error.
        const required = parameters.filter((each) => each.required).map((each) => each.name)
        const others = [...required, ...(round % 3 > 0 ? [pick(names), pick(names)] : [])]
        const isNeeded = /^(rule|maxAge|source)$/.test(name) && names.includes('date')
        if (isNeeded) others.push('date')
        if (name === 'end') others.push('start')
        if (name === 'layout') others.push('format')
        const query = Object.fromEntries(others.map((each) => [each, pick(VALUES[each])]))
        if (name === 'value') query['interval'] = 'month'
        if (name === 'layout') query['format'] = 'csv'
        const values = VALUES[name] ?? []
        expect(values, `values of ${name}`).not.toEqual([])
        // Errors are not kept, so that the last value has to meet those before it again.
        for (const value of [...values, ...values]) {
          const target = toTarget({ ...query, [name]: value })
          const expected = await plain.ask(target)
          for (let count = 0; count < 2; count += 1) {
            expect([target, await cached.ask(target)]).toEqual([target, expected])
          }
          bodies.add(expected)
        }
      }
      expect(bodies.size).toBeGreaterThan(1)
    },
  )
})

it('a list of two publications is computed again when either has a new day', async () => {
  const services = [open(), open(0)] as const
  const target = '/v1/history?from=EUR&to=JPY,AED&start=2026-11-12&interval=day'
  const seen: string[] = []
  for (const hours of [0, 2, 71]) {
    for (const { runtime, handler } of services) {
      await runtime.advance(hours * HOUR)
      await finish(runtime, handler.refresh())
    }
    const expected = await services[1].ask(target)
    for (let count = 0; count < 3; count += 1) expect(await services[0].ask(target)).toBe(expected)
    seen.push(expected)
  }
  expect(new Set(seen).size).toBe(3)
  const [, newer] = seen.map((text) => JSON.parse(text.split('\n')[2] ?? ''))
  expect([newer.end, newer.series.AED.end]).toEqual(['2026-11-20', '2026-11-20'])
})

it('a list is a hit only if no history of it was loaded, and ends with the newest of them', async () => {
  const { get, runtime, handler } = open()
  const ask = (target: string) => finish(runtime, get(`/api/v1/history?from=EUR&${target}`))
  await ask('to=JPY')
  const list = await ask('to=JPY,AED&start=2026-11-12')
  expect(list.headers.get('cache-status')).toBe('rates; fwd=miss')
  const again = await ask('to=JPY,AED&start=2026-11-12')
  expect(again.headers.get('cache-status')).toMatch(/^rates; hit; ttl=/)
  const { end, series } = await again.json()
  expect([end, series.JPY.end, series.AED.end]).toEqual(['2026-11-20', '2026-11-20', '2026-11-19'])
  const params = { from: 'EUR', to: ['AED', 'JPY'], start: '2026-11-12' } as const
  expect((await finish(runtime, handler.rates.history(params))).end).toBe('2026-11-20')
})

it.each([
  ['/api/v1/history?to=JPY&start=1999-01-04&from=', ['EUR', 'USD', 'GBP']],
  ['/v1/2015-01-05..?base=', ['EUR', 'USD', 'GBP']],
  ['/v1/2000-01-03..?symbols=', ['EUR,USD,CHF,SEK', 'GBP,USD,CHF,SEK']],
])('expensive requests at once have each their own response: %s', async (target, values) => {
  const { runtime, get } = openService({ start: START, providers: market, routes: frankfurter() })
  const ask = async (value: string) => (await get(`${target}${value}`)).text()
  await finish(runtime, ask(values[0] ?? ''))
  const together = await finish(runtime, Promise.all([...values, ...values].map(ask)))
  const alone: string[] = []
  for (const value of values) alone.push(await finish(runtime, ask(value)))
  expect(together.map((text) => alone.indexOf(text))).toEqual([...values.keys(), ...values.keys()])
})

it('rows of one day with other rules and ages have the answers of single requests', async () => {
  // Without a declared publication, rows share rates.
  const { handler, runtime } = openService({ providers: market })
  const below = wholeNumbersFrom(5)
  const pick = (name: string): string => VALUES[name]?.[below(VALUES[name].length)] ?? ''
  const rows = Array.from({ length: 300 }, () => ({
    from: 'EUR',
    to: 'USD',
    date: ['2026-11-14', '2026-11-15', '2026-11-13'][below(3)] ?? '',
    ...(below(2) > 0 && { rule: pick('rule') }),
    ...(below(2) > 0 && { maxAge: Number(pick('maxAge')) }),
  }))
  const { rates } = handler
  const many: unknown[] = await finish(runtime, Reflect.apply(rates.convertMany, rates, [rows]))
  for (const [index, row] of rows.entries()) {
    const alone = Promise.resolve(Reflect.apply(rates.convert, rates, [row])).catch((error) => {
      return { error: { code: error.code, message: error.message } }
    })
    expect([row, many[index]]).toEqual([row, await finish(runtime, alone)])
  }
})
