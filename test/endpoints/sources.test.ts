import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider, RatesHandlerOptions } from '../../src/index.ts'
import { createBancaDItaliaProvider } from '../../src/providers/banks/banca-d-italia.ts'
import { createCnbProvider } from '../../src/providers/banks/cnb.ts'
import { createHmrcProvider } from '../../src/providers/banks/hmrc.ts'
import { createNbpProvider } from '../../src/providers/banks/nbp.ts'
import { createNorgesBankProvider } from '../../src/providers/banks/norges-bank.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { fetchFromFeeds } from '../fixtures/feeds.ts'
import { NOW } from '../providers/upstream.ts'

/** The value of any JSON text. */
type Json = ReturnType<typeof JSON.parse>

const now = (): number => NOW

const ECB = fakeProviders({ now }).history
const BANKS = [ECB, createNbpProvider(), createNbpProvider({ table: 'B' }), createCnbProvider()]

function open(history: HistoryProvider[], options: RatesHandlerOptions = {}) {
  const { latest } = fakeProviders({ now })
  const handler = createRatesHandler({
    providers: { latest, history },
    fetch: fetchFromFeeds,
    now,
    ...options,
  })
  const get = async (target: string): Promise<Json> => {
    const response = await handler(new Request(`http://localhost/api/v1/${target}`))
    return { status: response.status, ...(await response.json()) }
  }
  return { get, rates: handler.rates }
}

describe('/v1/sources', () => {
  it('lists every source with its terms, base, days and delay', async () => {
    const { get, rates } = open([...BANKS, createHmrcProvider()])
    const { status, sources } = await get('sources')
    expect(status).toBe(200)
    expect(sources[0]).toEqual({
      id: 'ecb',
      source: ECB.attribution,
      terms: null,
      base: 'EUR',
      frequency: 'daily',
      from: '1999-01-04',
      lastDay: '2026-11-20',
      late: false,
    })
    const rows = sources.map((each: Json) =>
      [each.id, each.base, each.frequency, each.lastDay, each.late].join(' '),
    )
    expect(rows.slice(1)).toEqual([
      'nbp-a PLN daily 2026-11-20 false',
      'nbp-b PLN weekly 2026-11-18 false',
      'cnb CZK daily 2026-11-20 false',
      'hmrc GBP monthly 2026-11-01 false',
    ])
    for (const { id, terms } of sources.slice(1))
      expect([id, URL.canParse(terms)]).toEqual([id, true])
    expect(await rates.sources()).toEqual({ sources })
  })

  it('lists the European Central Bank alone without others, and nothing without history', async () => {
    const alone = await open([ECB]).get('sources')
    expect(alone.sources).toMatchObject([{ id: 'ecb', lastDay: '2026-11-20', late: false }])
    const { latest } = fakeProviders({ now })
    const none = open([], { providers: { latest, history: false } })
    expect(await none.get('sources')).toEqual({ status: 200, sources: [] })
  })

  it('lists a source without rates, if it is unavailable', async () => {
    const dead = {
      ...createNorgesBankProvider(),
      fetchHistory: () => Promise.reject(new Error('down')),
    }
    const { sources } = await open([dead]).get('sources')
    expect(sources).toMatchObject([{ id: 'norges-bank', base: null, lastDay: null, late: false }])
    const { sources: single } = await open([{ ...ECB, fetchHistory: dead.fetchHistory }]).get(
      'sources',
    )
    expect(single).toMatchObject([{ id: 'ecb', base: null, lastDay: null }])
  })
})

describe('source=', () => {
  it.each([
    ['ecb', ECB.attribution.name],
    ['nbp-a', 'Narodowy Bank Polski, table A'],
    ['nbp', 'Narodowy Bank Polski, table A'],
    ['cnb', 'Česká národní banka (Czech National Bank)'],
  ])('%s selects the rates of %s', async (id, name) => {
    const { get } = open(BANKS)
    for (const target of [
      'history?from=USD&to=EUR&period=1W',
      'history?from=USD&to=EUR&start=2026-11-16',
      'convert?from=USD&to=EUR&date=2026-11-19',
      'latest?base=USD&symbols=EUR&date=2026-11-19',
    ]) {
      const { status, source } = await get(`${target}&source=${id}`)
      expect([target, status, source.name]).toEqual([target, 200, name])
    }
    const { series } = await get(`history?from=USD&to=EUR,GBP&period=1W&source=${id}`)
    expect(series.GBP.source.name).toBe(name)
  })

  it('has the digits of the bank, and no rate of another', async () => {
    const { get } = open(BANKS)
    const own = await get('convert?from=EUR&to=PLN&date=2026-11-20&source=nbp')
    const other = await get('convert?from=EUR&to=PLN&date=2026-11-20')
    expect(own.source).not.toEqual(other.source)
    expect(String(own.rate).replace('.', '').length).toBeLessThanOrEqual(6)
    expect(own.updatedAt).toBe(Date.parse('2026-11-20T11:15:00Z'))
  })

  it('is a 400 for a currency that the source lacks, though another has it', async () => {
    const { get } = open([ECB, createBancaDItaliaProvider()])
    const found = await get('convert?from=EUR&to=XOF&date=2026-11-20')
    expect(found.rate).toBe(655.957)
    const { status, error } = await get('convert?from=EUR&to=XOF&date=2026-11-20&source=ecb')
    expect([status, error.code]).toEqual([400, 'unsupported_currency'])
  })

  it.each([
    ['nothing', 'convert?from=USD&to=EUR&date=2026-11-19&source=', 'must be the id'],
    ['a currency', 'history?from=USD&to=EUR&source=USD', 'must be the id of a source, such as ecb'],
    [
      'an unknown id',
      'history?from=USD&to=EUR&source=boe',
      'must be one of ecb, nbp-a, nbp-b, cnb',
    ],
    ['no day', 'latest?source=ecb', 'requires date'],
    ['several targets', 'convert?from=EUR&to=PLN,USD&expand=sources', 'needs one target currency)'],
    ['CSV', 'convert?from=EUR&to=PLN&format=csv&expand=sources', 'not supported in CSV)'],
    ['something else', 'convert?from=EUR&to=PLN&expand=rates', 'must be sources)'],
  ])('or expand is a 400 for %s: %s', async (_what, target, message) => {
    const { status, error } = await open(BANKS).get(target)
    expect([status, error.code]).toEqual([400, 'invalid_parameter'])
    const name = target.includes('expand=') ? 'expand' : 'source'
    expect(error.message).toContain(`${name} (${message}`)
  })
})

describe('expand=sources', () => {
  it('has the rate, the day and the deviation of every source', async () => {
    const { get, rates } = open(BANKS)
    const params = { from: 'EUR', to: 'PLN', amount: 100, date: '2026-11-19' } as const
    const { status, sources, ...record } = await get(
      'convert?from=EUR&to=PLN&amount=100&date=2026-11-19&expand=sources',
    )
    expect(status).toBe(200)
    expect(record).toEqual(await rates.convert(params))
    expect(sources).toEqual((await rates.convert({ ...params, expand: 'sources' })).sources)
    expect(sources.map(({ id }: { id: string }) => id)).toEqual(['ecb', 'nbp-a', 'nbp-b', 'cnb'])
    for (const { id, source, date, rate, deviation } of sources) {
      const of = `convert?from=EUR&to=PLN&date=2026-11-19&source=${id}`
      const alone = await get(of)
      expect([source, date, rate]).toEqual([alone.source, alone.date, alone.rate])
      expect(deviation).toBeCloseTo((rate / record.rate - 1) * 100, 4)
    }
    expect(sources[2].date).toBe('2026-11-18')
  })

  it('has the newest rates next to the latest rate', async () => {
    const { sources, date } = await open(BANKS).get('convert?from=EUR&to=PLN&expand=sources')
    expect(date).toBeUndefined()
    expect(sources.map((each: { date: string }) => each.date)).toEqual([
      '2026-11-20',
      '2026-11-20',
      '2026-11-18',
      '2026-11-20',
    ])
  })

  it('says which sources have no rate, and why', async () => {
    const dead = {
      ...createNorgesBankProvider(),
      fetchHistory: () => Promise.reject(new Error('down')),
    }
    const { get } = open([ECB, createBancaDItaliaProvider(), dead])
    const { sources } = await get('convert?from=EUR&to=XOF&date=2026-11-20&expand=sources')
    const missing = { date: null, rate: null, deviation: null }
    expect(sources).toMatchObject([
      { id: 'ecb', ...missing, error: 'unsupported_currency' },
      { id: 'banca-d-italia', rate: 655.957, deviation: 0 },
      { id: 'norges-bank', ...missing, error: 'provider_unavailable' },
    ])
  })
})
