import * as fc from 'fast-check'
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import type { HistoryList, Point } from '../../src/index.ts'
import { ENDED, TODAY, WITHOUT_YEN, longService } from '../fixtures/long-market.ts'
import { PERIODS, daysOf, mean, periodStart } from '../oracle.ts'
import { turnsDuring } from '../virtual-runtime.ts'

const { get, handler } = longService()

const CODES = ['USD', 'GBP', 'JPY', 'CHF', 'EUR', 'SEK', 'ISK', 'INR']

const points = fc.constantFrom(
  '',
  '&fill=previous',
  '&interval=day&value=last&fill=previous',
  '&interval=week',
  '&interval=month&value=high',
  '&interval=quarter&value=average',
  '&interval=year&value=open',
)
const windows = fc.constantFrom(
  '',
  '&period=1W',
  '&period=1Y',
  `&start=${WITHOUT_YEN}&end=2024-03-31`,
  '&start=1998-12-20&end=1999-02-01',
  '&start=2022-12-17&end=2030-01-01',
  '&start=2026-11-15',
)
const requests = fc
  .tuple(
    fc.constantFrom(...CODES),
    fc.uniqueArray(fc.constantFrom(...CODES), { minLength: 1 }),
    fc.tuple(windows, points).map((parts) => parts.join('')),
  )
  .map(([from, to, rest]) => ({ from, to, rest, list: `history?from=${from}&to=${to.join()},` }))

const RUNS = { seed: 20_261_123, numRuns: 60 }

function singles(from: string, to: readonly string[], rest: string) {
  return Promise.all(to.map((code) => get(`history?from=${from}&to=${code}${rest}`)))
}

const readCsv = (text: string) =>
  Papa.parse<Record<string, string>>(text.trimEnd(), { header: true, newline: '\r\n' }).data

it('a list of targets has the records and lines of single requests, byte for byte', async () => {
  const property = fc.asyncProperty(requests, async ({ from, to, rest, list }) => {
    const { status, text } = await get(`${list}${rest}`)
    const each = await singles(from, to, rest)
    const failed = each.find((response) => response.status !== 200)
    expect(status).toBe(failed ? failed.status : 200)
    const series = each.map((one, index) => `"${to[index]}":${one.text}`).join()
    const { period, start, end, interval, value, fill } = JSON.parse(each[0]?.text ?? '')
    const head = JSON.stringify({ from, period, start, end, interval, value, fill })
    expect(text).toBe(failed?.text ?? `${head.slice(0, -1)},"series":{${series}}}`)
    fc.pre(!failed)
    const csv = await get(`${list}${rest}&format=csv`)
    const eachCsv = await singles(from, to, `${rest}&format=csv`)
    const [line = ''] = csv.text.split(/(?<=\r\n)/, 1)
    expect(csv.text).toBe(line + eachCsv.map((one) => one.text.slice(line.length)).join(''))
    expect(csv.headers.get('link')).toBe(eachCsv[0]?.headers.get('link'))
  })
  await fc.assert(property, RUNS)
})

describe('CSV', () => {
  it('has the points of the JSON, with the filled ones marked', async () => {
    const target = 'history?from=EUR&to=USD&start=2026-11-13&end=2026-11-22&fill=previous'
    const { points, source } = (await get(target)).body
    const rows = readCsv((await get(`${target}&format=csv`)).text)
    const { name, url } = source
    const expected = points.map(({ d, r, filled }: Point) => {
      const cells = { from: 'EUR', to: 'USD', date: d, rate: `${r}`, filled: filled ? 'true' : '' }
      return { ...cells, source: name, sourceUrl: url }
    })
    expect(rows).toEqual(expected)
    expect(rows.map(({ filled }) => filled)).toContain('true')
  })

  it('in the wide layout has a line per day of any target, with the points of the JSON', async () => {
    const property = fc.asyncProperty(requests, async ({ to, rest, list }) => {
      const json = await get(`${list}${rest}`)
      fc.pre(json.status === 200)
      const { text, headers } = await get(`${list}${rest}&format=csv&layout=wide`)
      const { series }: HistoryList = JSON.parse(json.text)
      const byDay = new Map<string, Record<string, string>>()
      const isFilled = rest.includes('fill')
      for (const code of to) {
        for (const { d, r, filled } of Object(series[code]).points) {
          const row = byDay.get(d) ?? { date: d, ...(isFilled && { filled: '' }) }
          const filledCodes = [row['filled'], filled && code].filter(Boolean).join(' ')
          byDay.set(d, { ...row, [code]: String(r), ...(isFilled && { filled: filledCodes }) })
        }
      }
      const empty = Object.fromEntries(to.map((code) => [code, '']))
      const days = [...byDay.keys()].toSorted()
      expect(readCsv(text)).toEqual(days.map((day) => ({ ...empty, ...byDay.get(day) })))
      const columns = ['date', ...to, ...(isFilled ? ['filled'] : [])]
      expect(text.slice(0, text.indexOf('\r\n'))).toBe(columns.join())
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
      expect(headers.get('link')).toMatch(/^<[^>]+>; rel="via"; title="[^"]+"$/)
    })
    await fc.assert(property, RUNS)
  })

  it('in the wide layout has empty cells after the end of a currency, over many slices', async () => {
    const range = 'start=1999-01-04&end=2024-12-31'
    const { text } = await get(`history?from=EUR&to=USD,CYP,HRK&${range}&format=csv&layout=wide`)
    const rows = readCsv(text)
    const { body } = await get(`history?from=EUR&to=USD&${range}`)
    const expected = body.points.map(({ d, r }) => [d, String(r)])
    expect(rows.map(({ date, USD }) => [date, USD])).toEqual(expected)
    for (const code of ['CYP', 'HRK'] as const) {
      expect(rows.findLast((row) => row[code] !== '')?.['date']).toBe(ENDED[code])
    }
  })

  it('in the wide layout is also for one target, and only if requested', async () => {
    const target = 'history?from=EUR&to=USD&period=1W'
    const textOf = async (query: string) => (await get(target + query)).text
    expect(await textOf('&format=csv&layout=wide')).toMatch(/^date,USD\r\n2026-11-13,[\d.]+\r\n/)
    expect(await textOf('&format=csv&layout=long')).toBe(await textOf('&format=csv'))
    expect(await textOf('&layout=long')).toBe(await textOf(''))
  })
})

describe('a long list', () => {
  const ALL = 'USD,GBP,JPY,CHF,SEK,NOK,DKK,PLN,CZK,HUF,RON,TRY,AUD,CAD,CNY,HKD,IDR,INR,KRW,MXN'

  it.each(['', '&fill=previous', '&format=csv', '&format=csv&layout=wide'])(
    'is computed in slices, and limited as other expensive work is: %s',
    async (form) => {
      await get('history?from=EUR&to=USD&start=1999-01-04')
      // The limiter starts no expensive work for a disconnected client.
      const statusOf = async (target: string): Promise<number> => {
        const aborted = { method: 'GET', header: () => null, signal: AbortSignal.abort() }
        return (await handler.answer({ ...aborted, target: `/api/v1/${target}` })).status
      }
      expect(await statusOf(`history?from=SEK&to=${ALL}&start=1999-01-04${form}`)).toBe(503)
      expect(await statusOf(`history?from=SEK&to=USD,GBP&period=1W${form}`)).toBe(200)
      const target = `history?from=CHF&to=${ALL}&start=1999-01-04${form}`
      const { result, turns } = await turnsDuring(() => get(target))
      expect(result.status).toBe(200)
      expect(turns).toBeGreaterThan(25)
    },
  )
})

describe('a history from one day to another', () => {
  it.each([
    ['2026-11-18', undefined, TODAY, '2026-11-18', TODAY],
    ['2026-11-18', '2999-12-31', '2999-12-31', '2026-11-18', TODAY],
    ['0001-01-01', '1999-01-06', '1999-01-06', '1999-01-04', '1999-01-06'],
  ])('from %s to %s has the published days of it', async (start, given, end, first, last) => {
    const query = given === undefined ? '' : `&end=${given}`
    const { body } = await get(`history?from=USD&to=EUR&start=${start}${query}`)
    const days = body.points.map(({ d }) => d)
    expect([body.start, body.end, days]).toEqual([start, end, daysOf(first, last)])
  })

  it.each(PERIODS)('has the points and the statistics of the period %s', async (period) => {
    const { body } = await get(`history?from=IDR&to=JPY&period=${period}`)
    const start = periodStart(TODAY, period)
    const range = await get(`history?from=idr&to=jpy&start=${start}&end=${TODAY}`)
    const { period: _, ...rest } = body
    expect(range.body).toEqual({ ...rest, start, end: TODAY })
  })

  it('includes currencies that were quoted in its range', async () => {
    const kuna = await get('history?from=EUR&to=HRK&start=2022-12-28')
    expect(kuna.body.points.map(({ d }) => d)).toEqual(['2022-12-28', '2022-12-29', ENDED.HRK])
    const pound = await get('history?from=CYP&to=hrk&start=2007-12-01')
    expect(pound.body.points.at(-1)?.d).toBe(ENDED.CYP)
  })

  it('by interval works with the default period, too', async () => {
    const daily = (await get('history?from=USD&to=EUR&period=1M')).body
    const { body } = await get('history?from=USD&to=EUR&interval=week')
    expect(Object.keys(body).join()).toBe('from,to,period,interval,points,stats,source')
    const fridays = ['2026-10-23', '2026-10-30', '2026-11-06', '2026-11-13', '2026-11-20']
    expect(body.points).toEqual(daily.points.filter(({ d }) => fridays.includes(d)))
    expect([body.period, body.stats.average]).toEqual(['1M', mean(body.points.map(({ r }) => r))])
    const days = (await get('history?from=USD&to=EUR&period=1M&interval=day')).body
    expect(days).toEqual({ ...daily, interval: 'day' })
  })
})
