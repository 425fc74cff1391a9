import { describe, expect, it } from 'vitest'

import type { LatestProvider, LatestRates } from '../../src/index.ts'
import { bankRate, createBank } from '../fixtures/bank.ts'
import { TODAY, WITHOUT_YEN, longService } from '../fixtures/long-market.ts'
import { NOW, fragileMarket, market, openService } from '../fixtures/service.ts'
import { daysBefore, percentChange } from '../oracle.ts'
import { HOUR, finish } from '../virtual-runtime.ts'

const { get } = longService()

async function table(query: string): Promise<LatestRates> {
  const { status, text } = await get(`latest?${query}`)
  expect([status, text]).toEqual([200, text])
  return JSON.parse(text)
}

/** Returns the changes between two days, from histories of one pair each. */
async function expectedOf(base: string, codes: readonly string[], since: string, until: string) {
  const pairs = codes.map(async (code): Promise<[string, number][]> => {
    const { body } = await get(`history?from=${base}&to=${code}&start=${since}&end=${until}`)
    const [first, last] = [body.points?.at(0), body.points?.at(-1)]
    if (first?.d !== since || last?.d !== until) return []
    return [[code, percentChange(first.r, last.r)]]
  })
  return Object.fromEntries((await Promise.all(pairs)).flat())
}

describe('the change of a table', () => {
  it.each([
    ['base=USD&change=1D', '2026-11-19', TODAY],
    ['base=EUR&change=1W', '2026-11-13', TODAY],
    ['base=JPY&change=1M', '2026-10-20', TODAY],
    ['base=USD&change=1Y', '2025-11-20', TODAY],
    // A Sunday, and a day that only the archive has.
    ['base=GBP&change=2026-11-15', '2026-11-13', TODAY],
    ['base=EUR&change=1999-01-04', '1999-01-04', TODAY],
    [`base=EUR&change=${TODAY}`, TODAY, TODAY],
    // Days that shorter months lack, on a Friday and on a Tuesday.
    ['base=EUR&date=2025-03-31&change=1M', '2025-02-28', '2025-03-31'],
    ['base=EUR&date=2024-02-29&change=1Y', '2023-02-28', '2024-02-29'],
    ['base=USD&date=2026-11-15&change=1D', '2026-11-12', '2026-11-13'],
    ['base=USD&date=2026-11-15&rule=next&change=1D', '2026-11-13', '2026-11-16'],
    ['base=HRK&date=2022-12-30&change=1W&source=ecb', '2022-12-23', '2022-12-30'],
  ])('%s is that of the histories from %s to %s', async (query, since, until) => {
    const { base, rates, change } = await table(query)
    expect(change?.since).toBe(since)
    expect(change?.percent).toEqual(await expectedOf(base, Object.keys(rates), since, until))
    expect(Object.keys(change?.percent ?? {}).length).toBeGreaterThan(25)
    expect(change?.percent[base]).toBe(0)
  })

  it('changes nothing else, and has only the codes of the table with rates on both days', async () => {
    const query = 'base=EUR&symbols=usd,AED,HRK'
    const { change, ...rest } = await table(`${query}&change=1D`)
    expect(rest).toEqual(await table(query))
    expect(change?.percent).toEqual(await expectedOf('EUR', ['USD'], '2026-11-19', TODAY))
    const { error } = (await get('latest?base=JPY&date=2024-03-06&change=1D')).body
    expect(error.message).toContain(`No reference rates for JPY on ${WITHOUT_YEN}`)
    const next = await table(`base=EUR&symbols=JPY,USD&date=2024-03-06&change=1D`)
    expect(next.change).toEqual({
      since: WITHOUT_YEN,
      percent: await expectedOf('EUR', ['USD'], WITHOUT_YEN, '2024-03-06'),
    })
  })

  it('is a column of CSV', async () => {
    const expected = await table('base=EUR&symbols=JPY,AED&change=1M')
    const { text } = await get('latest?base=EUR&symbols=JPY,AED&change=1M&format=csv')
    const lines = text.split('\r\n').map((line) => line.split(',').slice(0, 4).join())
    const { AED, JPY } = expected.rates
    const change = expected.change?.percent['JPY']
    expect(lines).toEqual([
      'base,code,rate,changePct',
      `EUR,AED,${AED},`,
      `EUR,JPY,${JPY},${change}`,
      '',
    ])
  })
})

describe('a table with a change', () => {
  it('follows the newest day while latest rates stay, however often it is requested', async () => {
    let kept: ReturnType<LatestProvider['fetchLatest']> | undefined
    const latest: LatestProvider = {
      ...market.latest,
      fetchLatest: (context) => (kept ??= market.latest.fetchLatest(context)),
    }
    const providers = { latest, history: market.history }
    const service = openService({ start: Date.UTC(2026, 10, 20, 10), providers })
    const ask = (query: string) => service.json(`/api/v1/latest?base=EUR&symbols=USD${query}`)
    const before = await ask('&change=1D')
    for (let count = 0; count < 3; count += 1) expect(await ask('&change=1D')).toEqual(before)
    await service.runtime.advance(8 * HOUR)
    await finish(service.runtime, service.handler.refresh())
    const { change, ...rest } = await ask('&change=1D')
    expect({ ...rest, change: before.change }).toEqual(before)
    expect([before.change.since, change.since]).toEqual(['2026-11-18', '2026-11-19'])
    expect(change).toEqual((await ask('&date=2026-11-20&change=1D')).change)
  })

  it('needs reference rates, which a table without one does not', async () => {
    const off = openService({ providers: { latest: market.latest, history: false } })
    const body = await off.json('/api/v1/latest?change=1D')
    expect(body).toEqual(await off.json('/api/v1/history?from=USD&to=EUR'))
    expect((await off.get('/api/v1/latest')).status).toBe(200)
    const { upstream, providers } = fragileMarket()
    upstream.isUp = false
    const down = openService({ providers: { latest: market.latest, history: providers.history } })
    const [with_, history] = await finish(
      down.runtime,
      Promise.all(
        ['latest?change=1D', 'history?from=USD&to=EUR'].map((path) => down.get(`/api/v1/${path}`)),
      ),
    )
    expect([with_?.status, await with_?.text()]).toEqual([502, await history?.text()])
    expect((await down.get('/api/v1/latest')).status).toBe(200)
  })
})

describe('the change between rates of several sources', () => {
  function open(options: { hasSeries?: boolean; maxDays?: number } = {}) {
    const bank = createBank({ codes: ['USD', 'AED', 'KWD'], now: () => NOW, ...options })
    const providers = { latest: market.latest, history: [market.history, bank] }
    const { runtime, get: send } = openService({ providers })
    const read = async (query: string) =>
      (await finish(runtime, send(`/api/v1/latest?${query}`))).json()
    return { bank, read }
  }
  const bankChange = (code: string, since: string, until = TODAY) =>
    percentChange(bankRate(code, since), bankRate(code, until))

  it.each([[{}], [{ hasSeries: false, maxDays: 366 }]])(
    'is that of the first with the base and all symbols, with few calls: bank %j',
    async (options) => {
      const { bank, read } = open(options)
      const own = await read('base=EUR&symbols=AED,USD&change=1Y')
      const percent = { USD: bankChange('USD', '2025-11-20'), AED: bankChange('AED', '2025-11-20') }
      expect(own.change).toEqual({ since: '2025-11-20', percent })
      // No source has both codes, so the first with the base counts.
      const mixed = await read('base=EUR&symbols=AED,JPY&change=1D')
      expect(Object.keys(mixed.change.percent)).toEqual(['JPY'])
      const withBase = await read('base=AED&change=1D')
      expect(Object.keys(withBase.change.percent).sort()).toEqual(['AED', 'EUR', 'KWD', 'USD'])
      expect(bank.calls.length).toBeLessThanOrEqual(4)
    },
  )

  it('is that of the source of a dated table', async () => {
    const { read } = open()
    const [date, since] = ['2026-11-13', '2026-11-12']
    const { change, source } = await read(`base=EUR&symbols=AED&date=${date}&change=1D`)
    expect(change).toEqual({ since, percent: { AED: bankChange('AED', since, date) } })
    expect(source.name).toBe('Bank')
    const chosen = await read(`base=EUR&symbols=USD&date=${date}&source=bank&change=1W`)
    const before = daysBefore(date, 7)
    expect(chosen.change.percent).toEqual({ USD: bankChange('USD', before, date) })
  })
})
