import { describe, expect, it } from 'vitest'

import type { ProviderContext } from '../../src/index.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/index.ts'
import {
  answerAsBank,
  dailyXml,
  ecbDays,
  exrCsv,
  historyZip,
  newest,
  shortHistoryXml,
} from '../fixtures/ecb-files.ts'
import { DAY, MINUTE } from '../virtual-runtime.ts'
import { NOW } from './upstream.ts'

/** When the rates of 20 November 2026 are due. */
const DUE = Date.UTC(2026, 10, 20, 15)

const WEEK = { start: '2026-11-16', end: '2026-11-20' }

const FILES = 'https://www.ecb.europa.eu/stats/eurofxref'
const API = 'https://data-api.ecb.europa.eu/service/data/EXR/D..EUR.SP00.A'

/** A few weeks of the history, as all of it takes a second to make. */
const HISTORY = [
  ...ecbDays('1999-01-04', '1999-01-29', NOW),
  ...ecbDays('2008-10-06', '2008-10-17', NOW),
  ...ecbDays('2022-02-25', '2022-03-04', NOW),
  ...ecbDays('2026-08-24', '2026-11-20', NOW),
]
const BODIES = {
  'hist.zip': historyZip(HISTORY),
  '?lastNObservations=1&detail=dataonly&format=csvdata': exrCsv(HISTORY, { isLast: true }),
}

/** Creates the bank at `now`; an entry of `bodies` replaces the body of every URL that ends with its key. */
function bank(bodies: Record<string, BodyInit> = {}, now: number = NOW) {
  const requested: string[] = []
  const fetch: ProviderContext['fetch'] = async (input, init) => {
    const request = new Request(input, init)
    requested.push(request.url)
    const known = Object.entries({ ...BODIES, ...bodies })
    const body = known.findLast(([end]) => request.url.endsWith(end))?.[1]
    return body === undefined ? answerAsBank(request, now) : new Response(body)
  }
  return { context: { fetch, signal: new AbortController().signal, now: () => now }, requested }
}

describe.each([
  ['createEcbProvider()', createEcbProvider],
  ['createEcbDataApiProvider()', createEcbDataApiProvider],
])('%s', (_name, create) => {
  it('has the day published last as latest rates: the euro first, then 29 codes', async () => {
    const table = await create().fetchLatest(bank().context)
    const { date, rates } = newest(NOW)
    expect(date).toBe('2026-11-20')
    const times = { updatedAt: DUE, nextUpdateAt: Date.UTC(2026, 10, 23, 15) }
    expect(table).toEqual({ base: 'EUR', ...times, rates: { EUR: 1, ...rates } })
    expect(Object.keys(table.rates)[0]).toBe('EUR')
    expect(Object.keys(table.rates)).toHaveLength(30)
  })

  it.each([
    ['a week', '2026-11-14', '2026-11-20', 5],
    ['80 days', '2026-09-01', '2026-11-20', 59],
    ['81 days', '2026-08-31', '2026-11-20', 60],
    ['two days of a week', '2026-11-18', '2026-11-19', 2],
    ['a day in the crisis', '2008-10-10', '2008-10-10', 1],
    ['a weekend', '2026-11-14', '2026-11-15', 0],
    ['days that are not published yet', '2026-11-21', '2026-11-21', 0],
    ['the time before the euro', '1998-01-01', '1998-12-31', 0],
  ])('has the days of %s and no others', async (_what, start, end, count) => {
    const { base, days } = await create().fetchHistory({ start, end }, bank().context)
    expect(base).toBe('EUR')
    expect(days).toEqual(ecbDays(start, end, NOW))
    expect(days).toHaveLength(count)
  })
})

describe('createEcbProvider()', () => {
  const provider = createEcbProvider()

  it.each([
    ['2026-09-01', 'eurofxref-hist-90d.xml'],
    ['2026-08-31', 'eurofxref-hist.zip'],
    ['2021-11-06', 'eurofxref-hist.zip'],
  ])('reads the smallest file with all days from %s', async (start, name) => {
    const { context, requested } = bank()
    await provider.fetchHistory({ start, end: '2026-11-20' }, context)
    expect(requested).toEqual([`${FILES}/${name}`])
  })

  it('reads the archive if the smaller file begins too late', async () => {
    const range = { start: '2026-09-20', end: '2026-11-20' }
    const late = shortHistoryXml(ecbDays('2026-10-01', range.end, NOW))
    const { context, requested } = bank({ '90d.xml': late })
    const { days } = await provider.fetchHistory(range, context)
    expect(days).toEqual(ecbDays(range.start, range.end, NOW))
    expect(requested).toEqual([`${FILES}/eurofxref-hist-90d.xml`, `${FILES}/eurofxref-hist.zip`])
  })

  const today = newest(NOW)

  it.each([MINUTE, 8 * MINUTE, DAY])('counts rates %d ms early as of now', async (early) => {
    const { context } = bank({ 'daily.xml': dailyXml(today) }, DUE - early)
    const times = { updatedAt: DUE - early, nextUpdateAt: Date.UTC(2026, 10, 23, 15) }
    expect(await provider.fetchLatest(context)).toMatchObject({ ...times, rates: today.rates })
  })

  const twoDays = shortHistoryXml(ecbDays('2026-11-19', '2026-11-20', NOW))

  it.each([
    // Clocks may differ by a day.
    ['2026-11-20 .*24 hours ahead', dailyXml(today), DAY + 1],
    ['1 day, got 2', twoDays, 0],
    ['truncated', '', 0],
  ])('rejects latest rates with the reason %s', async (reason, xml, early) => {
    const call = provider.fetchLatest(bank({ 'daily.xml': xml }, DUE - early).context)
    await expect(call).rejects.toThrow(new RegExp(`^www\\.ecb\\.europa\\.eu .*: .*${reason}`))
  })
})

describe('createEcbDataApiProvider()', () => {
  const provider = createEcbDataApiProvider()

  it('requests only the values, and enough days to include a published one', async () => {
    const { context, requested } = bank()
    await provider.fetchLatest(context)
    await provider.fetchHistory(WEEK, context)
    expect(requested).toEqual([
      `${API}?lastNObservations=1&detail=dataonly&format=csvdata`,
      `${API}?startPeriod=2026-11-06&endPeriod=2026-11-20&detail=dataonly&format=csvdata`,
    ])
  })

  it('leaves out currencies that were observed last on another day', async () => {
    const { context } = bank()
    const url = `${API}?lastNObservations=1&detail=dataonly&format=csvdata`
    const all = await (await context.fetch(url)).text()
    expect(all).toContain('EXR.D.RUB.EUR.SP00.A,D,RUB,EUR,SP00,A,2022-03-01,')
    const { rates } = await provider.fetchLatest(context)
    expect(rates).not.toHaveProperty('RUB')
    expect(Object.keys(rates)).toHaveLength(30)
  })
})
