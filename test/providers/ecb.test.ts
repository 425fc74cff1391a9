import { describe, expect, it } from 'vitest'

import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/ecb.ts'
import type { ProviderContext } from '../../src/providers/provider.ts'
import { acceptHistory, acceptTable } from '../../src/rates/accept.ts'
import { fakeClock, providerContract } from '../../src/testing/index.ts'
import {
  answerAsBank,
  dailyXml,
  ecbDays,
  exrCsv,
  historyZip,
  newest,
  shortHistoryXml,
} from '../fixtures/ecb-files.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const HOUR = 3_600_000

const FILES = 'https://www.ecb.europa.eu/stats/eurofxref'
const API = 'https://data-api.ecb.europa.eu/service/data/EXR/D..EUR.SP00.A'

interface Upstream {
  context: ProviderContext
  asked: string[]
}

/** The bank at `now`; whatever is in `bodies` by the end of its path is answered instead. */
function bank(bodies: Record<string, BodyInit> = {}, now: number = NOW): Upstream {
  const asked: string[] = []
  const fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    asked.push(request.url)
    const { pathname } = new URL(request.url)
    const body = Object.entries(bodies).find(([end]) => pathname.endsWith(end))?.[1]
    return body === undefined ? answerAsBank(request, now) : new Response(body)
  }
  return { context: { fetch, signal: new AbortController().signal, now: () => now }, asked }
}

describe.each([
  ['createEcbProvider()', createEcbProvider],
  ['createEcbDataApiProvider()', createEcbDataApiProvider],
])('%s', (_name, create) => {
  const now = fakeClock('2026-11-20T18:00:00Z')

  it.each(
    providerContract({
      latest: () => create(),
      history: () => create(),
      fetch: (request) => answerAsBank(request, now()),
      now,
    }),
  )('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  it('names the bank', () => {
    expect(create().attribution).toEqual({
      name: 'European Central Bank',
      url: 'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html',
    })
  })

  it('has the day published last as latest rates: the euro first, then 29 codes', async () => {
    const table = await create().fetchLatest(bank().context)
    const { date, rates } = newest(NOW)
    expect(date).toBe('2026-11-20')
    expect(table).toEqual({
      base: 'EUR',
      updatedAt: Date.UTC(2026, 10, 20, 15),
      nextUpdateAt: Date.UTC(2026, 10, 23, 15),
      rates: { EUR: 1, ...rates },
    })
    expect(Object.keys(table.rates)[0]).toBe('EUR')
    expect(Object.keys(table.rates)).toHaveLength(30)
    expect(acceptTable(table, NOW).dropped).toEqual([])
  })

  it('has every day of a long history, with the digits and gaps as published', async () => {
    const range = { start: '1999-01-01', end: '2026-11-20' }
    const history = await create().fetchHistory(range, bank().context)
    const expected = ecbDays(range.start, range.end, NOW)
    expect(expected.length).toBeGreaterThan(7_000)
    expect(history).toEqual({ base: 'EUR', days: expected })
    const { data, dropped } = acceptHistory(history, NOW)
    expect(dropped).toEqual([])
    expect(data.columns.size).toBe(41)
  })

  it.each([
    ['a week', '2026-11-14', '2026-11-20'],
    ['80 days', '2026-09-01', '2026-11-20'],
    ['81 days', '2026-08-31', '2026-11-20'],
    ['a day amid the crisis', '2008-10-10', '2008-10-10'],
  ])('has the days of %s and no others', async (_what, start, end) => {
    const { days } = await create().fetchHistory({ start, end }, bank().context)
    expect(days).toEqual(ecbDays(start, end, NOW))
  })

  it.each([
    ['a weekend', '2026-11-14', '2026-11-15'],
    ['what is not published yet', '2026-11-21', '2026-11-21'],
    ['the time before the euro', '1998-01-01', '1998-12-31'],
  ])('has no days for %s', async (_what, start, end) => {
    const { days } = await create().fetchHistory({ start, end }, bank().context)
    expect(days).toEqual([])
  })

  it('passes its tables through the gates of markets, those out of a store too', async () => {
    const provider = create()
    const { context } = bank()
    const table = await provider.fetchLatest(context)
    const previous = { ...table, rates: { ...table.rates, USD: (table.rates['USD'] ?? 0) * 20 } }
    const judged = await provider.fetchLatest({ ...context, previous })
    expect(judged.unconfirmed).toEqual({ USD: table.rates['USD'] })
    expect(provider.judge?.(table, previous)).toEqual(judged)
    const few = { ...table, rates: { EUR: 1, USD: 1.1 } }
    expect(() => provider.judge?.(few, undefined)).toThrow('2 codes are not a market')
  })

  it('refuses a root that is no URL', () => {
    expect(() => create({ url: '/stats' })).toThrow(TypeError)
  })
})

describe('createEcbProvider()', () => {
  const provider = createEcbProvider()

  it.each([
    ['2026-09-01', ['eurofxref-hist-90d.xml']],
    ['2026-08-31', ['eurofxref-hist.zip']],
    ['2021-11-06', ['eurofxref-hist.zip']],
  ])('asks for the smaller file where that has all from %s on', async (start, names) => {
    const { context, asked } = bank()
    await provider.fetchHistory({ start, end: '2026-11-20' }, context)
    expect(asked).toEqual(names.map((name) => `${FILES}/${name}`))
  })

  it('asks for the archive where the smaller file turns out to begin too late', async () => {
    const range = { start: '2026-09-20', end: '2026-11-20' }
    const late = shortHistoryXml(ecbDays('2026-10-01', range.end, NOW))
    const { context, asked } = bank({ '90d.xml': late })
    const { days } = await provider.fetchHistory(range, context)
    expect(days).toEqual(ecbDays(range.start, range.end, NOW))
    expect(asked).toEqual([`${FILES}/eurofxref-hist-90d.xml`, `${FILES}/eurofxref-hist.zip`])
  })

  it('asks below another root', async () => {
    const { context, asked } = bank()
    await createEcbProvider({ url: 'http://127.0.0.1:8081/ecb/' }).fetchLatest(context)
    expect(asked).toEqual(['http://127.0.0.1:8081/ecb/eurofxref-daily.xml'])
  })

  it('counts rates that the bank published some minutes early as published now', async () => {
    const early = Date.UTC(2026, 10, 20, 14, 52)
    const today = newest(NOW)
    const { context } = bank({ 'daily.xml': dailyXml(today) }, early)
    const table = await provider.fetchLatest(context)
    expect(table).toMatchObject({ updatedAt: early, nextUpdateAt: Date.UTC(2026, 10, 23, 15) })
    expect(table.rates['USD']).toBe(today.rates['USD'])
  })

  it('refuses rates of a day that is ahead of the clock by more than clocks differ', async () => {
    const { context } = bank({ 'daily.xml': dailyXml(newest(NOW)) }, NOW - 28 * HOUR)
    await expect(provider.fetchLatest(context)).rejects.toThrow(
      'www.ecb.europa.eu answered in another form: the rates of 2026-11-20 are ahead of the clock',
    )
  })

  it('refuses latest rates of several days', async () => {
    const { context } = bank({
      'daily.xml': shortHistoryXml(ecbDays('2026-11-19', '2026-11-20', NOW)),
    })
    await expect(provider.fetchLatest(context)).rejects.toThrow(
      'www.ecb.europa.eu answered in another form: there are 2 days, not 1',
    )
  })

  it('refuses an archive that holds something else', async () => {
    const range = { start: '2001-01-01', end: '2026-11-20' }
    const zip = historyZip(ecbDays('2026-11-01', '2026-11-20', NOW))
    const { context } = bank({ '.zip': zip.slice(0, -1) })
    await expect(provider.fetchHistory(range, context)).rejects.toThrow(
      'www.ecb.europa.eu answered in another form: there is no archive, or not all of it',
    )
  })
})

describe('createEcbDataApiProvider()', () => {
  const provider = createEcbDataApiProvider()

  it('asks for the values alone, and for days enough that there are any', async () => {
    const { context, asked } = bank()
    await provider.fetchLatest(context)
    await provider.fetchHistory({ start: '2026-11-16', end: '2026-11-20' }, context)
    expect(asked).toEqual([
      `${API}?lastNObservations=1&detail=dataonly&format=csvdata`,
      `${API}?startPeriod=2026-11-06&endPeriod=2026-11-20&detail=dataonly&format=csvdata`,
    ])
  })

  it('reads all 32 columns alike', async () => {
    const days = ecbDays('2026-11-02', '2026-11-20', NOW)
    const { context } = bank({ 'SP00.A': exrCsv(days, { isFull: true }) })
    const history = await provider.fetchHistory({ start: '2026-11-02', end: '2026-11-20' }, context)
    expect(history.days).toEqual(days)
  })

  it('takes an answer without anything for a failure', async () => {
    const { context } = bank({ 'SP00.A': '' })
    const range = { start: '2026-11-16', end: '2026-11-20' }
    await expect(provider.fetchHistory(range, context)).rejects.toThrow(
      'data-api.ecb.europa.eu answered in another form: there is no day',
    )
  })

  it('leaves out what was observed last on another day', async () => {
    const all = exrCsv(ecbDays('2022-02-25', '2026-11-20', NOW), { isLast: true })
    expect(all).toContain('EXR.D.RUB.EUR.SP00.A,D,RUB,EUR,SP00,A,2022-03-01,')
    const { rates } = await provider.fetchLatest(bank({ 'SP00.A': all }).context)
    expect(rates).not.toHaveProperty('RUB')
    expect(Object.keys(rates)).toHaveLength(30)
  })
})
