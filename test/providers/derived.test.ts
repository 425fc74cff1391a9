import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { digestOf } from '../../src/digest.ts'
import { createMemoryStore, createRatesHandler } from '../../src/index.ts'
import type {
  HistoryProvider,
  LatestProvider,
  RatesEvent,
  RatesHandlerOptions,
} from '../../src/index.ts'
import { createBancaDItaliaProvider } from '../../src/providers/banks/banca-d-italia.ts'
import { fixed, overlay, pegged } from '../../src/providers/derived.ts'
import { OFFICIAL_PEGS } from '../../src/providers/official-pegs.ts'
import { createNbpProvider } from '../../src/providers/banks/nbp.ts'
import { daysFrom } from '../../src/rates/calendar.ts'
import { findSuccession } from '../../src/rates/currency-code.ts'
import { findCurrency } from '../../src/rates/iso-4217.ts'
import { fixedProviders, providerContract } from '../../src/testing/index.ts'
import { fetchFromFeeds } from '../fixtures/feeds.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'
import { NOW } from './upstream.ts'

/** The value of any JSON text. */
type Json = ReturnType<typeof JSON.parse>

const now = (): number => NOW

const RATES = { USD: 1.1594, GBP: 0.8804, SGD: 1.5013, HKD: 9.0211 }
const SOURCE = { name: 'Fixed rates', url: 'https://ratesmith.example/fixed' }
const PEG = { name: `${SOURCE.name} (peg)`, url: SOURCE.url }

/** Rates of 1 EUR, with a name that does not depend on the testing module. */
function ecb(rates: Record<string, number> = RATES): {
  latest: LatestProvider
  history: HistoryProvider
} {
  const { latest, history } = fixedProviders({ base: 'EUR', rates, now })
  const { fetchLatest } = latest
  const { fetchHistory } = history
  return {
    latest: { attribution: SOURCE, fetchLatest },
    history: { attribution: SOURCE, fetchHistory },
  }
}

function open(providers: RatesHandlerOptions['providers'], options: RatesHandlerOptions = {}) {
  const handler = createRatesHandler({ providers, fetch: fetchFromFeeds, now, ...options })
  const text = async (target: string): Promise<string> => {
    const response = await handler(new Request(`http://localhost/api/${target}`))
    expect(response.status, target).toBe(200)
    return response.text()
  }
  return {
    handler,
    text,
    json: async (target: string): Promise<Json> => JSON.parse(await text(target)),
  }
}

const PEGGED = open({ latest: pegged(ecb().latest), history: pegged(ecb().history) })

const failing = async (): Promise<never> => {
  throw new Error('down')
}

/** Quotes in both directions; in March 2026, also the dinar, the other way than its anchor, and the dirham. */
function mixed(how: string): HistoryProvider {
  const fetchHistory: HistoryProvider['fetchHistory'] = async ({ start, end }) => {
    const dates = daysFrom(start, end).filter((date) => date >= '2026-01-02' && isWeekday(date))
    const days = dates.map((date) => {
      const isMarch = date.startsWith('2026-03')
      const rates = { JPY: 150, ...(isMarch && { AED: 3.7 }) }
      return { date, rates, prices: { EUR: 1.1, ...(isMarch && { BHD: 2.5 }) } }
    })
    return { base: 'USD', days }
  }
  const about = { id: 'mixed', frequency: 'daily', time: '16:00', timeZone: 'UTC' } as const
  return {
    attribution: SOURCE,
    publication: { ...about, since: '2026-01-02', holidays: [] },
    ...(how === 'by month' && { maxDays: 31 }),
    fetchHistory,
    ...(how === 'by currency' && {
      async fetchSeries({ code, ...range }, context) {
        const only = (quotes: Record<string, number> = {}): Record<string, number> =>
          Object.fromEntries(Object.entries(quotes).filter(([each]) => each === code))
        const { base, days } = await fetchHistory(range, context)
        const found = days.map(({ date, rates, prices }) => {
          return { date, rates: only(rates), prices: only(prices) }
        })
        return { base, days: found.filter((day) => code in { ...day.rates, ...day.prices }) }
      },
    }),
  }
}

const isWeekday = (date: string): boolean => new Date(date).getUTCDay() % 6 !== 0

describe('pegged()', () => {
  it('adds currencies with an official peg, exactly, and says so', async () => {
    expect(await PEGGED.json('v1/convert?from=USD&to=AED&amount=2')).toMatchObject({
      rate: 3.6725,
      result: 7.345,
      derived: 'peg',
      source: PEG,
    })
    expect(await PEGGED.json('v1/convert?from=EUR&to=XOF')).toMatchObject({ rate: 655.957 })
    expect(await PEGGED.json('v1/convert?from=EUR&to=SAR')).toMatchObject({ rate: 1.1594 * 3.75 })
    expect(await PEGGED.json('v1/convert?from=XAF&to=XOF')).toMatchObject({ rate: 1 })
    // The anchor has a band itself.
    expect(await PEGGED.json('v1/convert?from=HKD&to=MOP')).toMatchObject({ rate: 1.03 })
  })

  it('leaves published rates and their source as they are', async () => {
    const { rates } = PEGGED.handler
    const conversion = await rates.convert({ from: 'USD', to: 'GBP' })
    expect(conversion).not.toHaveProperty('derived')
    expect(conversion.source).toEqual(SOURCE)
    const own = open({ latest: pegged(ecb({ ...RATES, AED: 4.3 }).latest), history: false })
    expect(await own.json('v1/convert?from=EUR&to=AED')).toMatchObject({
      rate: 4.3,
      source: SOURCE,
    })
  })

  it('flags rates in every response of every endpoint', async () => {
    const { json, text } = PEGGED
    const { rates } = PEGGED.handler
    const pair = { from: 'USD', to: 'AED' } as const
    expect(await json('v1/convert?from=USD&to=AED')).toEqual(await rates.convert(pair))
    expect(await json('convert?from=USD&to=AED')).toMatchObject({
      derived: 'peg',
      provider: `${PEG.name} (${PEG.url})`,
    })
    expect(await json('rates?base=USD')).toMatchObject({ derived: { AED: 'peg', BMD: 'peg' } })
    const latest = await json('v1/latest?base=EUR')
    expect(latest.derived).toMatchObject({ AED: 'peg', XOF: 'peg' })
    expect(latest.derived).not.toHaveProperty('USD')
    // Against a pegged base, no rate is from the publication.
    const { derived } = await json('v1/latest?base=AED&symbols=USD,GBP,AED')
    expect(derived).toEqual({ USD: 'peg', GBP: 'peg' })
    const dated = 'date=2026-11-20'
    expect(await json(`v1/latest?base=EUR&symbols=AED,USD&${dated}`)).toMatchObject({
      derived: { AED: 'peg' },
    })
    expect(await json(`v1/convert?from=AED&to=USD&${dated}`)).toMatchObject({
      derived: 'peg',
      source: PEG,
    })
    expect((await json('v1/convert?from=EUR&to=AED,USD')).results).toEqual({
      AED: { rate: expect.any(Number), result: expect.any(Number), derived: 'peg' },
      USD: { rate: 1.1594, result: 1.1594 },
    })
    expect(await json('v1/history?from=EUR&to=AED')).toMatchObject({ derived: 'peg', source: PEG })
    const { series } = await json('v1/history?from=EUR&to=AED,USD&start=2026-11-02')
    expect(series).toMatchObject({ AED: { derived: 'peg', source: PEG }, USD: { source: SOURCE } })
    expect(series.USD).not.toHaveProperty('derived')
    const [row] = await rates.convertMany([{ ...pair, amount: '2', round: 'minor' }])
    expect(row).toMatchObject({ rounded: '7.35', derived: 'peg', source: PEG })
    for (const target of [
      'v1/convert?from=EUR&to=AED&format=csv',
      'v1/convert?from=EUR&to=AED,USD&format=csv',
      'v1/latest?base=EUR&symbols=AED,USD&format=csv',
      `v1/latest?base=EUR&symbols=AED,USD&${dated}&format=csv`,
      'v1/history?from=EUR&to=AED&format=csv',
    ]) {
      const lines = (await text(target)).trim().split('\r\n').slice(1)
      for (const line of lines) expect(line.includes(PEG.name)).toBe(line.includes('AED'))
    }
  })

  it('flags a table with a column per currency in the header Link, which has its sources', async () => {
    const target = 'v1/history?from=EUR&to=AED,USD&period=1W&format=csv&layout=wide'
    const response = await PEGGED.handler(new Request(`http://localhost/api/${target}`))
    expect(response.headers.get('link')?.match(/rel="via"/g)).toHaveLength(2)
    expect(response.headers.get('link')).toMatch(/peg/)
  })

  it('compares pegged rates with those of other sources, flagged', async () => {
    const { sources } = await PEGGED.json('v1/convert?from=USD&to=AED&expand=sources')
    expect(sources).toEqual([
      expect.objectContaining({ rate: 3.6725, deviation: 0, derived: 'peg', source: PEG }),
    ])
  })

  it('has the ratio that the law states in both directions, divided once', async () => {
    const { json } = PEGGED
    for (const [pair, rate] of [
      ['from=XPF&to=EUR', 0.00838],
      ['from=EUR&to=XPF', 119.331742243437],
      ['from=OMR&to=USD', 2.6008],
      ['from=USD&to=OMR', 0.3844970778],
      ['from=KYD&to=USD', 1.2],
    ] as const) {
      expect(await json(`v1/convert?${pair}`), pair).toMatchObject({ rate, derived: 'peg' })
    }
  })

  it('adds a currency only on the days of its peg', async () => {
    const { json } = PEGGED
    expect(await json('v1/convert?from=EUR&to=BGN&date=1999-07-05')).toMatchObject({
      rate: 1.95583,
    })
    expect(await json('v1/convert?from=EUR&to=BGN&date=2025-12-31')).toMatchObject({
      rate: 1.95583,
      derived: 'peg',
    })
    expect(await json('v1/convert?from=USD&to=XCG&date=2025-03-31')).toMatchObject({ rate: 1.79 })
    const { handler } = PEGGED
    const hint = ' (withdrawn on 2026-01-01, use EUR, 1 EUR = 1.95583 BGN)'
    for (const [target, expected] of Object.entries({
      'to=BGN&date=2026-01-05': hint,
      'to=BGN&date=1999-07-02': '',
      'to=XCG&date=2025-03-28': '',
    })) {
      const url = `http://localhost/api/v1/convert?from=EUR&${target}`
      const response = await handler(new Request(url))
      expect(response.status, target).toBe(404)
      const { error } = await response.json()
      const [, code, date] = /^to=(\w+)&date=(.+)$/.exec(target) ?? []
      expect(error.message).toBe(`No reference rates for ${code} on ${date}${expected}`)
    }
  })

  it.each(['at once', 'by month', 'by currency'])(
    'adds currencies on the days without them to a provider of days %s, and on no others',
    async (how) => {
      const { json } = open({ history: pegged(mixed(how)), latest: false })
      for (const date of ['2026-02-16', '2026-03-16', '2026-10-19']) {
        const isMarch = date === '2026-03-16'
        for (const [pair, rate] of [
          ['from=USD&to=BHD', isMarch ? 0.4 : 0.376],
          ['from=BHD&to=USD', isMarch ? 2.5 : 2.659574468],
          ['from=USD&to=AED', isMarch ? 3.7 : 3.6725],
          ['from=EUR&to=BHD', isMarch ? 0.44 : 0.4136],
        ] as const) {
          const found = await json(`v1/convert?${pair}&date=${date}`)
          expect(found, `${pair} ${date}`).toMatchObject({ date, rate })
          expect(found.derived, `${pair} ${date}`).toBe(isMarch ? undefined : 'peg')
        }
      }
    },
  )

  it('follows a bank that quotes prices, and stays exact', async () => {
    const nbp = pegged(createNbpProvider())
    const { json } = open({ latest: nbp, history: nbp })
    expect(await json('v1/convert?from=USD&to=QAR')).toMatchObject({ rate: 3.64, derived: 'peg' })
    expect(await json('v1/convert?from=SAR&to=USD&date=2026-11-19&source=nbp')).toMatchObject({
      rate: 0.2666666667,
      tableNumber: expect.stringMatching(/^\d+\/A\/NBP\/2026$/),
      source: { name: 'Narodowy Bank Polski, table A (peg)' },
    })
  })

  it('adds a currency to a source with a series for each one', async () => {
    const { json } = open({ history: pegged(createBancaDItaliaProvider()), latest: false })
    const query = 'start=2024-01-02&end=2026-11-20'
    const francs = await json(`v1/history?from=EUR&to=CVE&${query}`)
    expect(francs.points.length).toBeGreaterThan(700)
    expect(francs).toMatchObject({ derived: 'peg', stats: { high: 110.265, low: 110.265 } })
    const riyals = await json(`v1/history?from=USD&to=SAR&${query}`)
    expect(riyals).toMatchObject({ derived: 'peg', stats: { high: 3.75, low: 3.75 } })
    const dollars = await json(`v1/history?from=EUR&to=USD&${query}`)
    expect(dollars).not.toHaveProperty('derived')
  })

  it('keeps its flags in a store, and with rates of an earlier publication', async () => {
    const store = createMemoryStore()
    const { latest, history } = ecb()
    const first = open({ latest: pegged(latest), history: pegged(history) }, { store })
    await first.json('v1/convert?from=USD&to=AED')
    await first.json('v1/history?from=USD&to=AED')
    const second = open(
      {
        latest: pegged({ ...latest, fetchLatest: failing }),
        history: pegged({ ...history, fetchHistory: failing }),
      },
      { store },
    )
    for (const target of ['v1/convert?from=USD&to=AED', 'v1/history?from=USD&to=AED']) {
      await expect.poll(() => second.json(target)).toMatchObject({ derived: 'peg' })
    }
    let clock = NOW
    let rates: Record<string, number> = RATES
    const changing: LatestProvider = {
      attribution: SOURCE,
      fetchLatest: async () => ({
        base: 'EUR',
        rates,
        updatedAt: clock,
        nextUpdateAt: clock + 3_600_000,
      }),
    }
    const third = open({ latest: pegged(changing), history: false }, { now: () => clock })
    await third.json('v1/latest')
    const { USD: _lost, ...others } = RATES
    rates = others
    clock += 2 * 3_600_000
    await third.handler.refresh()
    const table = await third.json('v1/latest?base=EUR')
    expect(table).toMatchObject({ older: { AED: NOW, USD: NOW }, derived: { AED: 'peg' } })
    expect(table.derived).not.toHaveProperty('USD')
  })

  it.each(
    providerContract({
      latest: () => pegged(createNbpProvider()),
      history: () => pegged(createNbpProvider()),
      fetch: fetchFromFeeds,
      now,
    }),
  )('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

const RATIOS = `
  AED/USD 3.6725 1997-11-02 | ANG/USD 1.79 1971-12-18 2025-03-30 | AWG/USD 1.79 1986-01-01 |
  BAM/EUR 1.95583 1999-01-01 | BBD/USD 2 1975-07-05 | BGN/EUR 1.95583 1999-07-05 2025-12-31 |
  BHD/USD 0.376 2001-01-01 | BMD/USD 1 1972-02-06 | BND/SGD 1 1967-06-12 | BSD/USD 1 1974-01-01 |
  BTN/INR 1 1974-01-01 | BZD/USD 2 1979-01-01 | CVE/EUR 110.265 1999-01-01 | DJF/USD 177.721 1973-02-20 |
  DKK/EUR 7.29252-7.62824 1999-01-01 | ERN/USD 15 2005-01-01 | FKP/GBP 1 1966-02-14 | GGP/GBP 1 1971-02-15 | GIP/GBP 1 1928-01-01 |
  HKD/USD 7.75-7.85 2005-05-18 | IMP/GBP 1 1971-02-15 | JEP/GBP 1 1971-02-15 | JOD/USD 0.709 1995-10-23 |
  KMF/EUR 491.96775 1999-01-01 | KYD/USD 1/1.2 1974-04-01 | LSL/ZAR 1 1980-01-19 | MOP/HKD 1.03 1983-01-01 |
  NAD/ZAR 1 1993-09-15 | NPR/INR 1.6 1993-02-12 | OMR/USD 1/2.6008 1986-01-01 | PAB/USD 1 1904-06-28 |
  QAR/USD 3.64 2001-07-09 | SAR/USD 3.75 1986-06-01 | SHP/GBP 1 1976-02-02 | STN/EUR 24.5 2018-01-01 |
  SZL/ZAR 1 1974-09-06 | XAF/EUR 655.957 1999-01-01 | XCD/USD 2.7 1976-07-07 | XCG/USD 1.79 2025-03-31 |
  XOF/EUR 655.957 1999-01-01 | XPF/EUR 1/0.00838 1999-01-01`

describe('official pegs', () => {
  it.each(OFFICIAL_PEGS)('of $currency is a ratio or a band, with days and a source', (peg) => {
    const { currency, anchor, ratio, band, since, until, authority, source } = peg
    expect([ratio, band].filter((each) => each === null)).toHaveLength(1)
    const [low, high] = band ?? [ratio, Infinity]
    expect(low).toBeGreaterThan(0)
    expect(high).toBeGreaterThan(Number(low))
    for (const code of [anchor, ...(until === null ? [currency] : [])]) {
      expect(findCurrency(code)?.code, code).toBe(code)
    }
    expect(since < (until ?? '9999')).toBe(true)
    expect(authority).not.toBe('')
    expect(new URL(source).protocol).toBe('https:')
  })

  it('agree with the ratios at which currencies were withdrawn', () => {
    const withdrawn = OFFICIAL_PEGS.filter(({ until }) => until !== null)
    expect(withdrawn.map(({ currency }) => currency)).toEqual(['ANG', 'BGN'])
    const [guilder, lev] = withdrawn
    const successor = OFFICIAL_PEGS.find(({ currency }) => currency === 'XCG')
    expect(findSuccession('BGN', '2026-01-01')).toMatchObject({
      successor: 'EUR',
      ratio: lev?.ratio,
    })
    expect(findSuccession('ANG', '2025-03-31')).toMatchObject({ successor: 'XCG', ratio: 1 })
    expect(successor?.ratio).toBe(guilder?.ratio)
  })

  it('have these ratios and days, each once and in order', () => {
    const rows = OFFICIAL_PEGS.map(({ currency, anchor, ratio, price, band, since, until }) => {
      const isInverse = price !== null && ratio === Number((1 / price).toPrecision(15))
      const units = isInverse ? `1/${price}` : (ratio ?? band?.join('-'))
      return [`${currency}/${anchor}`, units, since, until ?? ''].join(' ').trim()
    })
    expect(rows).toEqual(rowsOf(RATIOS).map((row) => row.join(' ')))
  })
})

describe.skipIf(!HAS_RECORDINGS)(`official pegs, by Banca d'Italia ${NEEDS_RECORDINGS}`, () => {
  it.each(['01', '02'])('are within half a percent of its rates of a day of 2026, %s', (file) => {
    const lines = readFileSync(recording(`data/banks/bdi/${file}.csv`), 'latin1').split(/\r?\n/)
    const rates = new Map(lines.map((line) => [line.split(',')[2], Number(line.split(',')[4])]))
    rates.set('EUR', 1)
    const inForce = OFFICIAL_PEGS.filter(({ ratio, until }) => ratio !== null && until === null)
    const quoted = inForce.filter(({ currency }) => rates.has(currency))
    const deviating = quoted.filter(({ currency, anchor, ratio }) => {
      const found = (rates.get(currency) ?? NaN) / (rates.get(anchor) ?? NaN)
      return !(Math.abs(found / (ratio ?? NaN) - 1) < 0.005)
    })
    // Banks on the Cayman Islands buy dollars at 0.82, not at the 0.8333 of the law; the nakfa is quoted at 15.38.
    expect(deviating.map(({ currency }) => currency)).toEqual(['ERN', 'KYD'])
    const missing = inForce.filter((peg) => !quoted.includes(peg))
    expect(missing.map(({ currency }) => currency)).toEqual(['GGP', 'IMP', 'JEP'])
  })
})

describe('fixed()', () => {
  it('rejects what is not a ratio', () => {
    const { latest } = ecb()
    const valid = { currency: 'XPT', anchor: 'USD', ratio: 100 }
    const wrap = (change: object) => () => fixed(latest, [{ ...valid, ...change }])
    expect(wrap({ currency: 'xpt' })).toThrow('two upper-case codes')
    expect(wrap({ anchor: 'XPT' })).toThrow('two upper-case codes')
    expect(wrap({ ratio: 0 })).toThrow('must be above 0, got 0')
    expect(wrap({ since: '2026-02-30' })).toThrow('YYYY-MM-DD, got 2026-02-30')
    expect(wrap({ rate: 1 })).toThrow('unknown option "rate"')
    expect(() => fixed(latest, Object({}))).toThrow('ratios must be an array')
    expect(() => pegged(Object({}))).toThrow('provider must be a provider')
  })
})

describe('overlay()', () => {
  const OWN = { name: 'Treasury', url: 'https://example.com/rates' }
  const january = { base: 'EUR', rates: { USD: 1.1 }, since: '2026-01-01', until: '2026-01-31' }

  it('puts your rates on top, with you as their source', async () => {
    const rates = [january, { base: 'EUR', rates: { USD: 1.2, XPT: 50 }, since: '2026-11-01' }]
    const { json } = open({
      latest: overlay(ecb().latest, { rates, ...OWN }),
      history: overlay(ecb().history, { rates, ...OWN }),
    })
    const own = { derived: 'overlay', source: { name: 'Treasury (overlay)', url: OWN.url } }
    expect(await json('v1/convert?from=EUR&to=USD')).toMatchObject({ rate: 1.2, ...own })
    expect(await json('v1/convert?from=EUR&to=GBP')).toMatchObject({ rate: 0.8804, source: SOURCE })
    expect(await json('v1/convert?from=GBP&to=XPT')).toMatchObject(own)
    expect(await json('v1/latest?base=EUR')).toMatchObject({
      derived: { USD: 'overlay', XPT: 'overlay' },
      source: { name: 'Fixed rates, with rates of Treasury', url: SOURCE.url },
    })
    expect(await json('v1/latest?base=EUR&symbols=GBP')).toMatchObject({ source: SOURCE })
    for (const [date, rate] of Object.entries({ '2026-01-15': 1.1, '2026-11-16': 1.2 })) {
      const target = `v1/convert?from=EUR&to=USD&date=${date}`
      expect(await json(target)).toMatchObject({ rate, ...own })
    }
    for (const date of ['2026-06-15', '2003-01-15']) {
      const other = await json(`v1/convert?from=EUR&to=USD&date=${date}`)
      expect(other).toMatchObject({ rate: 1.1594, source: SOURCE })
      expect(other).not.toHaveProperty('derived')
      const { derived } = await json(`v1/latest?base=EUR&date=${date}`)
      expect(derived).toBeUndefined()
    }
  })

  it.each([
    ['start=2025-12-01&end=2025-12-31', false],
    ['start=2026-01-26&end=2026-02-06', true],
    ['start=2026-02-02&end=2026-02-27', false],
    ['start=2026-02-01&end=2026-02-27&fill=previous', true],
    ['start=2026-02-02&end=2026-02-27&fill=previous', false],
    ['start=2026-01-29&end=2026-02-27&interval=month&value=average', true],
    ['period=1M', false],
    ['period=1Y', true],
  ])('names you as the source of a history with a point of yours: %s, %s', async (query, isOwn) => {
    const { json, handler } = open({
      history: overlay(ecb().history, { rates: january, ...OWN }),
      latest: false,
    })
    const name = isOwn ? 'Treasury (overlay)' : SOURCE.name
    for (let round = 0; round < 2; round += 1) {
      const history = await json(`v1/history?from=EUR&to=USD&${query}`)
      expect(history.source.name).toBe(name)
      expect(history.derived).toBe(isOwn ? 'overlay' : undefined)
      const others = await json(`v1/history?from=EUR&to=GBP&${query}`)
      expect(others).not.toHaveProperty('derived')
      await handler.refresh()
    }
  })

  const points = { currency: 'XPT', anchor: 'AED', ratio: 100 }
  type Both = LatestProvider & HistoryProvider
  const wraps: Record<string, (provider: Both) => Both> = {
    o: (provider) => overlay(provider, { rates: { ...january, until: '2026-11-30' }, ...OWN }),
    f: (provider) => fixed(provider, [points]),
    p: pegged,
  }

  it('is followed by pegs and ratios of its currencies, in any order of the wrappings', async () => {
    const store = createMemoryStore()
    const orders = ['o f p', 'o p f', 'f o p', 'f p o', 'p o f', 'p f o']
    const own = { derived: 'overlay', source: { name: 'Treasury (overlay)', url: OWN.url } }
    const seen = new Set<string>()
    for (const order of orders) {
      const { latest, history } = ecb()
      const wrapped = order
        .split(' ')
        .reduce<Both>((provider, kind) => wraps[kind]?.(provider) ?? provider, {
          ...latest,
          ...history,
        })
      const events: RatesEvent[] = []
      const { json, text } = open(
        { latest: wrapped, history: wrapped },
        { store, onEvent: (event) => events.push(event) },
      )
      for (const date of ['', '&date=2026-01-15']) {
        const rateOf = (pair: string) => json(`v1/convert?${pair}${date}`)
        expect(await rateOf('from=USD&to=AED')).toMatchObject({ rate: 3.6725, ...own })
        expect(await rateOf('from=EUR&to=AED')).toMatchObject({ rate: 4.03975, ...own })
        expect(await rateOf('from=EUR&to=XPT')).toMatchObject({ rate: 403.975, ...own })
        expect(await rateOf('from=EUR&to=XOF')).toMatchObject({ rate: 655.957, derived: 'peg' })
      }
      const before = '&date=2025-06-16'
      expect(await json(`v1/convert?from=EUR&to=AED${before}`)).toMatchObject({ derived: 'peg' })
      expect(await json(`v1/convert?from=XPT&to=AED${before}`)).toMatchObject({
        rate: 0.01,
        derived: 'fixed',
        source: { name: 'Fixed rates (fixed)' },
      })
      seen.add(await text('v1/latest?base=EUR'))
      // All orders have the same stored data.
      expect(events.filter(({ type }) => type === 'rates_rejected')).toEqual([])
    }
    expect(seen.size).toBe(1)
  })

  it('does not take other rates of yours from a store, nor leave yours to others', async () => {
    const store = createMemoryStore()
    const { latest, history } = ecb()
    const wrapped = (USD: number) => {
      const rates = { base: 'EUR', rates: { USD } }
      const options = { rates, ...OWN }
      return { latest: overlay(latest, options), history: overlay(history, options) }
    }
    const target = 'v1/convert?from=EUR&to=USD'
    for (const [providers, rate] of [
      [wrapped(1.1), 1.1],
      [wrapped(1.2), 1.2],
      [{ latest, history }, 1.1594],
      [wrapped(1.2), 1.2],
    ] as const) {
      const { json } = open(providers, { store })
      for (const query of ['', '&date=2024-02-29', '&date=2001-02-28']) {
        expect(await json(`${target}${query}`)).toMatchObject({ rate })
      }
    }
  })

  it('keeps the direction in which the provider quotes a currency', async () => {
    const rates = { base: 'PLN', rates: { EUR: 0.25 }, since: '2026-11-10' }
    const nbp = overlay(createNbpProvider(), { rates, ...OWN })
    const { json } = open({ latest: nbp, history: nbp })
    expect(await json('v1/convert?from=EUR&to=PLN')).toMatchObject({ rate: 4, derived: 'overlay' })
    const { points } = await json('v1/history?from=EUR&to=PLN&start=2026-11-02&end=2026-11-20')
    expect(
      points.map(({ d, r }: { d: string; r: number }) => (r === 4 ? d : '')).filter(Boolean),
    ).toEqual(points.map(({ d }: { d: string }) => d).filter((d: string) => d >= '2026-11-10'))
  })

  it('fails, with an event, if it has a rate of the base of the provider', async () => {
    const events: RatesEvent[] = []
    const latest = overlay(ecb().latest, { rates: { base: 'USD', rates: { EUR: 0.9 } }, ...OWN })
    const handler = createRatesHandler({
      providers: { latest, history: false },
      now,
      onEvent: (event) => events.push(event),
    })
    const response = await handler(new Request('http://localhost/api/v1/latest'))
    expect(response.status).toBe(502)
    expect(JSON.stringify(events)).toContain("own rates must not include EUR, the provider's base")
  })

  it('rejects invalid options', () => {
    const wrap = (change: object) => () =>
      overlay(ecb().latest, { rates: january, ...OWN, ...change })
    expect(wrap({ url: 'rates' })).toThrow('must be an absolute http or https URL')
    expect(wrap({ name: 1 })).toThrow('attribution')
    expect(wrap({ rates: { base: 'EUR', rates: { usd: 1 } } })).toThrow('two upper-case codes')
    expect(wrap({ rate: 1 })).toThrow('unknown option "rate"')
    const twice = () => overlay(wrap({})(), { rates: january, ...OWN })
    expect(twice).toThrow('must have no other overlay')
  })
})

describe('a hand-written provider', () => {
  it('flags the days that it derives, also from a store, whose older texts flag all days', async () => {
    const store = createMemoryStore()
    const { history } = ecb()
    const derived = { USD: 'fixed' } as const
    const provider = (fetchHistory: HistoryProvider['fetchHistory']) => ({
      history: { attribution: SOURCE, fetchHistory },
      latest: false as const,
    })
    const flagging = provider(async (range, context) => {
      const { base, days } = await history.fetchHistory(range, context)
      return {
        base,
        days: days.map((day) => (day.date < '2026-11-16' ? day : { ...day, derived })),
      }
    })
    const flags = async (providers: RatesHandlerOptions['providers']): Promise<unknown[]> => {
      const { json } = open(providers, { store })
      const of = async (date: string): Promise<Json> =>
        (await json(`v1/convert?from=EUR&to=USD&date=${date}`)).derived
      return [await of('2026-11-13'), await of('2026-11-16')]
    }
    expect(await flags(flagging)).toEqual([undefined, 'fixed'])
    expect(await flags(provider(failing))).toEqual([undefined, 'fixed'])
    const text = String(await store.get('rates:v1:history')).replace(/^{"digest":"\w+",/, '')
    const [head, days = ''] = text.split('"days":')
    const flag = `"derived":${JSON.stringify(derived)},`
    const old = `${head}${flag}"days":${days.replaceAll(flag, '')}`
    await store.set('rates:v1:history', `{"digest":"${digestOf(old)}",${old}`, 3_600_000)
    expect(await flags(provider(failing))).toEqual(['fixed', 'fixed'])
  })
})

describe('a stored or fetched table', () => {
  it('is rejected if it derives rates in an unknown way, which could not be flagged', async () => {
    const latest: LatestProvider = {
      attribution: SOURCE,
      fetchLatest: async () =>
        Object({
          base: 'EUR',
          rates: RATES,
          updatedAt: NOW,
          nextUpdateAt: NOW + 3_600_000,
          derived: { USD: 'guess' },
        }),
    }
    const handler = createRatesHandler({ providers: { latest, history: false }, now })
    const response = await handler(new Request('http://localhost/api/v1/latest'))
    expect(response.status).toBe(502)
  })
})
