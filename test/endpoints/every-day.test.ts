import { readFileSync } from 'node:fs'

import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import { isStreamed } from '../../src/http/response.ts'
import { createRates, createRatesHandler } from '../../src/index.ts'
import type { DaysParams, HistoryProvider, RatesDay } from '../../src/index.ts'
import { createEcbProvider } from '../../src/providers/index.ts'
import { BANK_DAYS, createBank } from '../fixtures/bank.ts'
import type { BankOptions } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { NOW, market, openService } from '../fixtures/service.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'
import { SECOND, finish, settled, turnsDuring } from '../virtual-runtime.ts'
import { wholeBody } from '../whole-body.ts'

type Service = Pick<ReturnType<typeof openService>, 'handler' | 'runtime'>

/** Returns the records, and the error that ended them. */
async function collect({ runtime, handler }: Service, params: DaysParams) {
  const days: RatesDay[] = []
  try {
    const work = async (): Promise<void> => {
      for await (const day of handler.rates.days(params)) days.push(day)
    }
    await finish(runtime, work())
    return { days }
  } catch (error) {
    return { days, error }
  }
}

/** A bank that quotes prices of units in numbered tables, and derives a rate. */
const POLISH: HistoryProvider = {
  attribution: { name: 'Polish bank', url: 'https://polish.example' },
  publication: { ...BANK_DAYS, id: 'polish' },
  maxDays: 366,
  async fetchHistory({ start, end }) {
    const days = ['2025-12-30', '2026-11-19', '2026-11-20'].map((date) => ({
      date,
      rates: { CHF: 0.25 },
      prices: { EUR: 4.25, USD: 3.7, XDR: 5.123_456_789 },
      tableNumber: `${date.slice(8)}/A/2026`,
      derived: { XDR: 'peg', SEK: 'peg' } as const,
    }))
    return { base: 'PLN', days: days.filter(({ date }) => date >= start && date <= end) }
  },
}

/** Codes of which no usual rates are known. */
const CODES = codes(12)

/** Creates a bank that quotes against the euro, a year in one call. */
function euroBank(options: Partial<BankOptions> = {}) {
  const quoted = ['USD', 'GBP', 'JPY']
  return createBank({ codes: quoted, now: () => NOW, maxDays: 366, hasSeries: false, ...options })
}

function openBanks(...history: HistoryProvider[]) {
  const service = openService({ providers: { ...market, history } })
  const { runtime, get } = service
  return {
    ...service,
    get: (...given: Parameters<typeof get>) => finish(runtime, get(...given)),
    text: async (response: Response) => finish(runtime, response.text()),
  }
}

describe.skipIf(!HAS_RECORDINGS)(`since 1999 ${NEEDS_RECORDINGS}`, () => {
  it('days() has the points of 41 single histories, to the digit, and nothing else', async () => {
    const zip = readFileSync(recording('data/ecb/eurofxref-hist.zip'))
    const history = createEcbProvider()
    const rates = createRates({
      providers: { history },
      now: () => Date.parse('2026-04-13T18:00:00Z'),
      fetch: async (input) => {
        const { pathname } = new URL(new Request(input).url)
        return new Response(pathname.endsWith('.zip') ? zip : '')
      },
    })
    const days: RatesDay[] = []
    for await (const day of rates.days({ start: '1999-01-04' })) days.push(day)
    expect(days).toHaveLength(6_983)
    const codes = new Set(days.flatMap((day) => Object.keys(day.rates)))
    expect(codes.size).toBe(41)
    let points = 0
    for (const to of codes) {
      const single = await rates.history({ from: 'EUR', to, start: '1999-01-04' })
      points += single.points.length
      const found = days.flatMap(({ date, rates: { [to]: r } }) => (r ? [{ d: date, r }] : []))
      expect(found).toEqual(single.points)
    }
    expect(points).toBe(days.flatMap((day) => Object.keys(day.rates)).length)
  })
})

describe('rates.days()', () => {
  it('has a record of each source and day, in order of preference, and each code once a day', async () => {
    const service = openBanks(euroBank(), POLISH)
    const { days } = await collect(service, { start: '2026-11-18' })
    expect(days.map(({ date, source, base }) => `${date} ${source} ${base}`)).toEqual([
      '2026-11-18 bank EUR',
      '2026-11-19 bank EUR',
      '2026-11-19 polish PLN',
      '2026-11-20 bank EUR',
      '2026-11-20 polish PLN',
    ])
    expect(Object.keys(days[0]?.rates ?? {})).toEqual(['GBP', 'JPY', 'USD'])
    // Without what the first one quotes, or quotes against.
    expect(days[4]).toEqual({
      date: '2026-11-20',
      source: 'polish',
      base: 'PLN',
      rates: { CHF: 0.25 },
      prices: { XDR: 5.123_456_789 },
      tableNumber: '20/A/2026',
      derived: { XDR: 'peg' },
    })
  })

  it.each<[DaysParams, string[]]>([
    [
      { start: '2025-12-30', source: 'polish' },
      ['CHF EUR USD XDR', 'CHF EUR USD XDR', 'CHF EUR USD XDR'],
    ],
    [{ start: '2026-11-20', symbols: ['usd', 'XDR'] }, ['USD', 'XDR']],
    [{ start: '2026-11-20', symbols: ['CHF'] }, ['CHF']],
    // The base of the first source.
    [{ start: '2026-11-20', symbols: ['EUR'] }, []],
    [{ start: '0001-01-01', end: '1999-01-04' }, ['GBP JPY USD']],
    [{ start: '2026-11-21', end: '9999-12-31' }, []],
  ])('of %j has these codes', async (params, expected) => {
    const { days } = await collect(openBanks(euroBank(), POLISH), params)
    const codes = days.map(({ rates, prices }) => Object.keys({ ...rates, ...prices }).sort())
    expect(codes.map((each) => each.join(' '))).toEqual(expected)
  })

  it.each<[DaysParams, string, string]>([
    [{ start: '2026-11-31' }, 'invalid_parameter', 'start'],
    [{ start: '2026-11-20', end: '2026-11-19' }, 'invalid_parameter', 'start'],
    [{ start: '2026-11-20', source: 'ecb' }, 'invalid_parameter', 'source'],
    [{ start: '2026-11-20', symbols: ['USD', 'KWD'] }, 'unsupported_currency', 'symbols'],
    [{ start: '2026-11-20', symbols: ['GBp'] }, 'invalid_currency', 'symbols'],
    [Object({ end: '2026-11-20' }), 'missing_parameter', 'start'],
    [Object({ start: '2026-11-20', symbol: ['USD'] }), 'invalid_parameter', 'symbol'],
  ])('of %j is an error', async (params, code, parameter) => {
    const { days, error } = await collect(openBanks(euroBank()), params)
    expect(error).toMatchObject({ name: 'RatesError', code, parameter })
    expect(days).toEqual([])
  })

  it('fails where a year cannot be loaded, after the whole years before it', async () => {
    const bank = euroBank({
      onCall({ start }) {
        if (start === '2024-01-01') throw Object.assign(new Error('down'), { retryAfterMs: 1e9 })
      },
    })
    const { days, error } = await collect(openBanks(bank), { start: '2023-12-20' })
    expect(days.map(({ date }) => date).at(-1)).toBe('2023-12-29')
    expect(error).toMatchObject({ code: 'provider_unavailable' })
  })

  it('fails where rates of a year are doubtful, unless other codes are requested', async () => {
    const [wrong = '', ...right] = CODES
    const bank = (): HistoryProvider =>
      euroBank({
        codes: CODES,
        sanityChecks: true,
        change: ({ base, days }, { start }) => ({
          base,
          days: days.map(({ date, rates: { [wrong]: rate = NaN, ...rates } }) => {
            return {
              date,
              rates: { ...rates, [wrong]: start === '2024-01-01' ? rate * 100 : rate },
            }
          }),
        }),
      })
    const start = '2023-12-20'
    const { days, error } = await collect(openBanks(bank()), { start })
    expect(error).toMatchObject({ code: 'provider_unavailable' })
    expect(days.at(-1)?.date).toBe('2023-12-29')
    const others = await collect(openBanks(bank()), { start, symbols: right })
    expect(others.error).toBeUndefined()
    expect(others.days.at(-1)?.date).toBe('2026-11-20')
  })

  it('does not depend on sources without the requested codes', async () => {
    const other: HistoryProvider = {
      ...POLISH,
      async fetchHistory(range, context) {
        if (range.start < '2026') throw new Error('down')
        return POLISH.fetchHistory(range, context)
      },
    }
    const params = { start: '2025-12-20', symbols: ['GBP'] }
    const { days, error } = await collect(openBanks(euroBank(), other), params)
    expect(error).toBeUndefined()
    expect(new Set(days.map(({ source }) => source))).toEqual(new Set(['bank']))
  })

  it('repeats a failing load in the middle for a minute', async () => {
    let failures = 0
    const bank = euroBank({
      onCall({ start }) {
        if (start === '2024-01-01' && (failures += 1) <= 3) throw new Error('down')
      },
    })
    const service = openBanks(bank)
    const { days, error } = await collect(service, { start: '2023-12-20' })
    expect(error).toBeUndefined()
    expect(days.filter(({ date }) => date.startsWith('2024'))).not.toEqual([])
    expect(failures).toBe(4)
    expect(service.runtime.monotonic()).toBeLessThan(60 * SECOND)
  })

  it('ends with the reason of its signal, and waits for nothing more', async () => {
    const never = new Promise<never>(() => {})
    const bank = euroBank({ onCall: ({ start }) => (start === '2024-01-01' ? never : undefined) })
    const service = openBanks(bank)
    const reason = new Error('enough')
    const controller = new AbortController()
    service.runtime.startTimer(() => controller.abort(reason), 3 * SECOND)
    const { signal } = controller
    const { days, error } = await collect(service, { start: '2023-12-28', signal })
    expect(days).toHaveLength(2)
    expect(error).toBe(reason)
    expect(service.runtime.monotonic()).toBeLessThan(4 * SECOND)
  })

  it('is not available where reference rates are turned off', async () => {
    const service = openService({ providers: { ...market, history: false } })
    const { error } = await collect(service, { start: '2026-11-20' })
    expect(error).toMatchObject({ code: 'not_found' })
  })
})

const SETTLED = 'public, max-age=86400, stale-while-revalidate=86400, stale-if-error=604800'
const RECENT = 'public, max-age=3600, stale-while-revalidate=3600, stale-if-error=604800'

describe('GET /v1/days', () => {
  const DAYS = '/api/v1/days?start=2026-11-19'

  it('sends a line of JSON for each record, with its sources', async () => {
    const service = openBanks(euroBank(), POLISH)
    const response = await service.get(DAYS)
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(response.headers.get('link')).toBe(
      '<https://bank.example/>; rel="via"; title="Bank", <https://polish.example/>; rel="via"; title="Polish bank"',
    )
    expect(response.headers.get('content-length')).toBeNull()
    const { days } = await collect(service, { start: '2026-11-19' })
    expect(await response.text()).toBe(days.map((day) => `${JSON.stringify(day)}\n`).join(''))
  })

  it('sends a line of CSV for each rate; a price is the rate of its currency', async () => {
    const service = openBanks(euroBank(), POLISH)
    const response = await service.get(`${DAYS}&format=csv`)
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    const { data } = Papa.parse<Record<string, string>>(await response.text(), { header: true })
    const rows = data.filter(({ date }) => date === '2026-11-20').map((row) => Object.values(row))
    const { days } = await collect(service, { start: '2026-11-20' })
    expect(rows).toEqual([
      ...['GBP', 'JPY', 'USD'].map((code) => [
        '2026-11-20',
        'EUR',
        code,
        String(days[0]?.rates[code]),
        'bank',
      ]),
      ['2026-11-20', 'PLN', 'CHF', '0.25', 'polish'],
      ['2026-11-20', 'XDR', 'PLN', '5.123456789', 'polish'],
    ])
  })

  it.each([
    ['&end=2026-11-05', SETTLED],
    ['&end=2026-11-06', RECENT],
    ['', RECENT],
  ])(
    'of days that may change is cached for an hour, of others for a day: %j',
    async (end, caching) => {
      const { get } = openBanks(euroBank())
      const response = await get(`/api/v1/days?start=2026-10-01${end}`)
      expect(response.headers.get('cache-control')).toBe(caching)
    },
  )

  it('has an entity tag that changes with the newest day and the request', async () => {
    const { get, runtime } = openBanks(euroBank({ now: () => runtime.now() }))
    const tagOf = async (query = '') => (await get(DAYS + query)).headers.get('etag') ?? ''
    const tag = await tagOf()
    expect(tag).toMatch(/^W\/"\w+"$/)
    expect(await tagOf()).toBe(tag)
    const others = await Promise.all(['&symbols=USD', '&format=csv', '&source=bank'].map(tagOf))
    expect(new Set([tag, ...others]).size).toBe(4)
    const headers = { 'if-none-match': tag }
    const unchanged = await get(DAYS, { headers })
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ''])
    await runtime.advance(3 * 86_400 * SECOND)
    await get(DAYS)
    await runtime.advance(SECOND)
    expect((await get(DAYS, { headers })).status).toBe(200)
  })

  it('has no body for HEAD', async () => {
    const { get } = openBanks(euroBank())
    const [head, whole] = await Promise.all([get(DAYS, { method: 'HEAD' }), get(DAYS)])
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect([...head.headers]).toEqual([...whole.headers])
  })

  it('is a 502 after 5 s without the first line, and goes on loading', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const service = openBanks(
      euroBank({ onCall: ({ start }) => (start < '2026' ? promise : undefined) }),
    )
    const started = service.runtime.monotonic()
    const response = await service.get('/api/v1/days?start=2025-12-01')
    expect(response.status).toBe(502)
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(service.runtime.monotonic() - started).toBeLessThanOrEqual(5 * SECOND + 100)
    resolve(undefined)
    await settled()
    expect((await service.get('/api/v1/days?start=2025-12-01')).status).toBe(200)
  })

  it('ends with an error after the first line, and never leaves out a year', async () => {
    const bank = euroBank({
      onCall({ start }) {
        if (start === '2024-01-01') throw Object.assign(new Error('down'), { retryAfterMs: 1e9 })
      },
    })
    const { get, text, handler, runtime } = openBanks(bank)
    const response = await get('/api/v1/days?start=2021-01-01')
    expect(response.status).toBe(200)
    await expect(text(response)).rejects.toThrow(/unavailable|terminated/)
    for (const [format, line] of [
      ['ndjson', /^\{"error":\{"code":"provider_unavailable",/],
      ['csv', /^error,provider_unavailable$/],
    ] as const) {
      const target = `/api/v1/days?start=2021-01-01&format=${format}`
      const raw = await handler.answer({ method: 'GET', target, header: () => null })
      let received = ''
      const read = async (): Promise<void> => {
        if (!isStreamed(raw.body)) return
        for await (const part of raw.body) received += new TextDecoder().decode(part)
      }
      const code = 'provider_unavailable'
      await expect(finish(runtime, read())).rejects.toMatchObject({ code })
      // Some hosts make a response that fails look complete.
      expect(received.trimEnd().split('\n').at(-1)).toMatch(line)
    }
  })

  it('is a 503 while 200 others are read, until one of them ends', async () => {
    const handler = createRatesHandler({ providers: market, now: () => NOW })
    const url = 'http://localhost/api/v1/days?start=2020-01-01'
    const send = () => handler(new Request(url))
    const readers: ReadableStreamDefaultReader[] = []
    for (let count = 0; count < 200; count += 1) {
      const { body } = await send()
      if (body) readers.push(body.getReader())
    }
    for (const reader of readers) await reader.read()
    expect((await send()).status).toBe(503)
    await readers[0]?.cancel()
    expect((await send()).status).toBe(200)
  })

  it('computes a part when it is read, and one of all responses in a turn of the event loop', async () => {
    const handler = createRatesHandler({ providers: market, now: () => NOW })
    const target = '/api/v1/days?start=2020-01-01'
    const send = () => handler.answer({ method: 'GET', target, header: () => null })
    const whole = await wholeBody((await send()).body)
    const parts = Math.floor(whole.length / 20_000)
    expect(parts).toBeGreaterThan(20)
    const { turns } = await turnsDuring(async () => {
      const bodies = await Promise.all([send(), send(), send(), send()])
      const texts = await Promise.all(bodies.map(({ body }) => wholeBody(body)))
      for (const text of texts) expect(text).toBe(whole)
    })
    expect(turns).toBeGreaterThan(4 * parts)
  })
})
