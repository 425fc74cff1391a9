import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { HistoryList } from '../../src/index.ts'
import { ENDED, WITHOUT_YEN, longService } from '../fixtures/long-market.ts'
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

const RUNS = { seed: 20_261_123, numRuns: 120 }

function singles(from: string, to: readonly string[], rest: string) {
  return Promise.all(to.map((code) => get(`history?from=${from}&to=${code}${rest}`)))
}

/** Parses CSV without quotes into objects. */
function parseCsv(text: string): Record<string, string>[] {
  expect(text).toMatch(/^([^"\r\n]+\r\n)+$/)
  const [head = [], ...rows] = text.split('\r\n').map((line) => line.split(','))
  expect(rows.pop()).toEqual([''])
  return rows.map((cells) => {
    expect(cells).toHaveLength(head.length)
    return Object.fromEntries(head.map((name, index) => [name, cells[index] ?? '']))
  })
}

describe('a list of targets', () => {
  it('has the records of single requests, byte for byte, in the order of the request', async () => {
    const property = fc.asyncProperty(requests, async ({ from, to, rest, list }) => {
      const { status, text } = await get(`${list}${rest}`)
      const each = await singles(from, to, rest)
      const failed = each.find((response) => response.status !== 200)
      expect(status).toBe(failed ? failed.status : 200)
      const series = each.map((one, index) => `"${to[index]}":${one.text}`).join()
      const { period, start, end, interval, value, fill } = JSON.parse(each[0]?.text ?? '')
      const head = JSON.stringify({ from, period, start, end, interval, value, fill })
      expect(text).toBe(failed?.text ?? `${head.slice(0, -1)},"series":{${series}}}`)
    })
    await fc.assert(property, RUNS)
  })

  it.each([
    ['history?from=USD&to=EUR,KWD,XYZ', 400, 'Unsupported to currency: KWD'],
    ['history?from=USD&to=EUR,HRK&start=2023-02-01', 404, 'No reference rates for USD/HRK'],
  ])('has the error of the first wrong target: %s', async (target, status, message) => {
    const response = await get(target)
    expect(response.status).toBe(status)
    expect(response.body.error.message).toContain(message)
  })

  it('may have 20 targets', async () => {
    const { status, text } = await get(`history?from=USD&to=${'EUR,GBP,'.repeat(10)}`)
    const { series }: HistoryList = JSON.parse(text)
    expect([status, Object.keys(series)]).toEqual([200, ['EUR', 'GBP']])
  })
})

describe('long CSV', () => {
  it('has the lines of single requests under one header, and each source once', async () => {
    const property = fc.asyncProperty(requests, async ({ from, to, rest, list }) => {
      const { status, text, headers } = await get(`${list}${rest}&format=csv`)
      const each = await singles(from, to, `${rest}&format=csv`)
      fc.pre(each.every((one) => one.status === 200))
      expect(status).toBe(200)
      const [head = ''] = text.split(/(?<=\r\n)/, 1)
      expect(text).toBe(head + each.map((one) => one.text.slice(head.length)).join(''))
      expect(headers.get('link')).toBe(each[0]?.headers.get('link'))
    })
    await fc.assert(property, RUNS)
  })

  it('has the points of the JSON', async () => {
    const target = 'history?from=EUR&to=USD&start=2026-11-13&end=2026-11-22&fill=previous'
    const { body } = await get(target)
    const rows = parseCsv((await get(`${target}&format=csv`)).text)
    const { name, url } = body.source
    const expected = Array.from<{ d: string; r: number; filled?: true }, object>(
      body.points,
      ({ d, r, filled }) => ({
        from: 'EUR',
        to: 'USD',
        date: d,
        rate: String(r),
        filled: filled ? 'true' : '',
        source: name,
        sourceUrl: url,
      }),
    )
    expect(rows).toEqual(expected)
    expect(rows.map(({ filled }) => filled)).toContain('true')
  })
})

describe('wide CSV', () => {
  it('has a line per day of any target, with the points of the JSON', async () => {
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
      expect(parseCsv(text)).toEqual(days.map((day) => ({ ...empty, ...byDay.get(day) })))
      const columns = ['date', ...to, ...(isFilled ? ['filled'] : [])]
      expect(text.slice(0, text.indexOf('\r\n'))).toBe(columns.join())
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
      expect(headers.get('link')).toMatch(/^<[^>]+>; rel="via"; title="[^"]+"$/)
    })
    await fc.assert(property, RUNS)
  })

  it('has empty cells after the end of a currency, in more days than one slice of work', async () => {
    const range = 'start=1999-01-04&end=2024-12-31'
    const { text } = await get(`history?from=EUR&to=USD,CYP,HRK&${range}&format=csv&layout=wide`)
    const rows = parseCsv(text)
    const { body } = await get(`history?from=EUR&to=USD&${range}`)
    const expected = body.points.map(({ d, r }) => [d, String(r)])
    expect(rows.map(({ date, USD }) => [date, USD])).toEqual(expected)
    for (const code of ['CYP', 'HRK'] as const) {
      expect(rows.findLast((row) => row[code] !== '')?.['date']).toBe(ENDED[code])
    }
  })

  it('is also for one target', async () => {
    const { text } = await get('history?from=EUR&to=USD&period=1W&format=csv&layout=wide')
    expect(text).toMatch(/^date,USD\r\n2026-11-13,[\d.]+\r\n/)
  })

  it('is the default layout only if requested', async () => {
    const target = 'history?from=EUR&to=USD,GBP&period=1W&format=csv'
    const long = await get(`${target}&layout=long`)
    expect(long.text).toBe((await get(target)).text)
    const json = await get('history?from=EUR&to=USD&period=1W&layout=long')
    expect(json.text).toBe((await get('history?from=EUR&to=USD&period=1W')).text)
  })
})

describe('a long list', () => {
  const ALL = 'USD,GBP,JPY,CHF,SEK,NOK,DKK,PLN,CZK,HUF,RON,TRY,AUD,CAD,CNY,HKD,IDR,INR,KRW,MXN'
  const FORMS = ['', '&fill=previous', '&format=csv', '&format=csv&layout=wide']

  it.each(FORMS)('is computed in slices: %s', async (form) => {
    await get('history?from=EUR&to=USD&start=1999-01-04')
    const target = `history?from=CHF&to=${ALL}&start=1999-01-04${form}`
    const { result, turns } = await turnsDuring(() => get(target))
    expect(result.status).toBe(200)
    expect(turns).toBeGreaterThan(25)
  })

  it.each(FORMS)('is limited as other expensive work is, unlike a short one: %s', async (form) => {
    await get('history?from=EUR&to=USD&start=1999-01-04')
    // The limiter starts no expensive work for a disconnected client.
    const header = () => null
    const statusOf = async (target: string): Promise<number> => {
      const aborted = { method: 'GET', header, signal: AbortSignal.abort() }
      return (await handler.answer({ ...aborted, target: `/api/v1/${target}` })).status
    }
    expect(await statusOf(`history?from=SEK&to=${ALL}&start=1999-01-04${form}`)).toBe(503)
    expect(await statusOf(`history?from=SEK&to=USD,GBP&period=1W${form}`)).toBe(200)
  })
})
