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
import {
  OFFICIAL_PEGS,
  createBancaDItaliaProvider,
  createNbpProvider,
  fixed,
  overlay,
  pegged,
} from '../../src/providers/index.ts'
import { findCurrency, findWithdrawn } from '../../src/currencies.ts'
import { fixedProviders, providerContract } from '../../src/testing/index.ts'
import { fetchFromFeeds } from '../fixtures/feeds.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { daysOf, isWeekend } from '../oracle.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'
import { NOW } from './upstream.ts'

/** The value of any JSON text. */
type Json = ReturnType<typeof JSON.parse>
type Both = LatestProvider & HistoryProvider

const now = (): number => NOW
const HOUR = 3_600_000

const RATES = { USD: 1.1594, GBP: 0.8804, SGD: 1.5013, HKD: 9.0211 }
const SOURCE = { name: 'Fixed rates', url: 'https://ratesmith.example/fixed' }
const PEG = { name: `${SOURCE.name} (peg)`, url: SOURCE.url }

/** Rates of 1 EUR, with a name that does not depend on the testing module. */
function ecb(rates: Record<string, number> = RATES): Both {
  const { latest, history } = fixedProviders({ base: 'EUR', rates, now })
  return {
    attribution: SOURCE,
    fetchLatest: latest.fetchLatest.bind(latest),
    fetchHistory: history.fetchHistory.bind(history),
  }
}

function open(providers: RatesHandlerOptions['providers'], options: RatesHandlerOptions = {}) {
  const events: RatesEvent[] = []
  const onEvent = (event: RatesEvent): void => void events.push(event)
  const given = { providers, fetch: fetchFromFeeds, now, onEvent, ...options }
  const handler = createRatesHandler(given)
  const get = (target: string): Promise<Response> =>
    handler(new Request(`http://localhost/api/${target}`))
  const text = async (target: string): Promise<string> => {
    const response = await get(target)
    expect(response.status, target).toBe(200)
    return response.text()
  }
  const json = async (target: string): Promise<Json> => JSON.parse(await text(target))
  return { handler, events, get, text, json }
}

const PEGGED = open({ latest: pegged(ecb()), history: pegged(ecb()) })

const failing = async (): Promise<never> => {
  throw new Error('down')
}

/** Quotes in both directions; in March 2026, also the dinar, the other way than its anchor, and the dirham. */
function mixed(how: string): HistoryProvider {
  const fetchHistory: HistoryProvider['fetchHistory'] = async ({ start, end }) => {
    const dates = daysOf(start, end).filter((date) => date >= '2026-01-02' && !isWeekend(date))
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

describe('pegged()', () => {
  // Divided once, as the law states the ratio; the anchor of the pataca has a band itself; on the days of the peg only.
  it.each(
    rowsOf(`USD AED 3.6725 | EUR XOF 655.957 | EUR SAR 4.34775 | XAF XOF 1 | HKD MOP 1.03 | XPF EUR 0.00838
      EUR XPF 119.331742243437 | OMR USD 2.6008 | USD OMR 0.3844970778 | KYD USD 1.2
      EUR BGN 1.95583 1999-07-05 | EUR BGN 1.95583 2025-12-31 | USD XCG 1.79 2025-03-31`),
  )('adds %s and %s at %s', async (from, to, rate, date) => {
    const dated = date === undefined ? '' : `&date=${date}`
    const found = await PEGGED.json(`v1/convert?from=${from}&to=${to}${dated}`)
    expect(found).toMatchObject({ rate: Number(rate), derived: 'peg', source: PEG })
  })

  it.each([
    ['BGN', '2026-01-05', ' (withdrawn on 2026-01-01, use EUR, 1 EUR = 1.95583 BGN)'],
    ['BGN', '1999-07-02', ''],
    ['XCG', '2025-03-28', ''],
  ])('adds no %s on %s', async (code, date, hint) => {
    const response = await PEGGED.get(`v1/convert?from=EUR&to=${code}&date=${date}`)
    const message = `No reference rates for ${code} on ${date}${hint}`
    expect([response.status, await response.json()]).toMatchObject([404, { error: { message } }])
  })

  it('leaves published rates and their source as they are', async () => {
    const conversion = await PEGGED.handler.rates.convert({ from: 'USD', to: 'GBP' })
    expect(conversion).not.toHaveProperty('derived')
    expect(conversion.source).toEqual(SOURCE)
    const own = open({ latest: pegged(ecb({ ...RATES, AED: 4.3 })), history: false })
    const found = await own.json('v1/convert?from=EUR&to=AED')
    expect(found).toMatchObject({ rate: 4.3, source: SOURCE })
  })

  it('flags rates in every response of every endpoint', async () => {
    const { json, text, get } = PEGGED
    const { rates } = PEGGED.handler
    const pair = { from: 'USD', to: 'AED' } as const
    const own = { derived: 'peg', source: PEG }
    expect(await json('v1/convert?from=USD&to=AED')).toEqual(await rates.convert(pair))
    const provider = `${PEG.name} (${PEG.url})`
    expect(await json('convert?from=USD&to=AED')).toMatchObject({ derived: 'peg', provider })
    expect(await json('rates?base=USD')).toMatchObject({ derived: { AED: 'peg', BMD: 'peg' } })
    const latest = await json('v1/latest?base=EUR')
    expect(latest.derived).toMatchObject({ AED: 'peg', XOF: 'peg' })
    expect(latest.derived).not.toHaveProperty('USD')
    // Against a pegged base, no rate is from the publication.
    const { derived } = await json('v1/latest?base=AED&symbols=USD,GBP,AED')
    expect(derived).toEqual({ USD: 'peg', GBP: 'peg' })
    const dated = 'date=2026-11-20'
    const table = await json(`v1/latest?base=EUR&symbols=AED,USD&${dated}`)
    expect(table.derived).toEqual({ AED: 'peg' })
    expect(await json(`v1/convert?from=AED&to=USD&${dated}`)).toMatchObject(own)
    expect((await json('v1/convert?from=EUR&to=AED,USD')).results).toEqual({
      AED: { rate: expect.any(Number), result: expect.any(Number), derived: 'peg' },
      USD: { rate: 1.1594, result: 1.1594 },
    })
    expect(await json('v1/history?from=EUR&to=AED')).toMatchObject(own)
    const { series } = await json('v1/history?from=EUR&to=AED,USD&start=2026-11-02')
    expect(series).toMatchObject({ AED: own, USD: { source: SOURCE } })
    expect(series.USD).not.toHaveProperty('derived')
    const [row] = await rates.convertMany([{ ...pair, amount: '2', round: 'minor' }])
    expect(row).toMatchObject({ rounded: '7.35', ...own })
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
    // A table with a column per currency has its sources in the header.
    const wide = 'v1/history?from=EUR&to=AED,USD&period=1W&format=csv&layout=wide'
    const link = (await get(wide)).headers.get('link')
    expect([link?.match(/rel="via"/g)?.length, link?.includes('peg')]).toEqual([2, true])
    // Sources are compared, flagged.
    const { sources } = await json('v1/convert?from=USD&to=AED&expand=sources')
    expect(sources).toEqual([expect.objectContaining({ rate: 3.6725, deviation: 0, ...own })])
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
      tableNumber: '40/A/NBP/2026',
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
    expect(await json(`v1/history?from=EUR&to=USD&${query}`)).not.toHaveProperty('derived')
  })

  it('keeps its flags in a store, and with rates of an earlier publication', async () => {
    const store = createMemoryStore()
    const targets = ['v1/convert?from=USD&to=AED', 'v1/history?from=USD&to=AED']
    const first = open({ latest: pegged(ecb()), history: pegged(ecb()) }, { store })
    for (const target of targets) await first.json(target)
    const down = pegged({ ...ecb(), fetchLatest: failing, fetchHistory: failing })
    const second = open({ latest: down, history: down }, { store })
    for (const target of targets) {
      await expect.poll(() => second.json(target)).toMatchObject({ derived: 'peg' })
    }
    let clock = NOW
    let rates: Record<string, number> = RATES
    const changing: LatestProvider = {
      attribution: SOURCE,
      fetchLatest: async () => {
        return { base: 'EUR', rates, updatedAt: clock, nextUpdateAt: clock + HOUR }
      },
    }
    const third = open({ latest: pegged(changing), history: false }, { now: () => clock })
    await third.json('v1/latest')
    const { USD: _lost, ...others } = RATES
    rates = others
    clock += 2 * HOUR
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
    }).filter(({ name }) => !/rejects (if|without) /.test(name)),
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
  it('have these ratios and days, each once and in order, with an authority and currencies that exist', () => {
    const rows = OFFICIAL_PEGS.map(({ currency, anchor, ratio, price, band, since, until }) => {
      const isInverse = price !== null && ratio === Number((1 / price).toPrecision(15))
      const units = isInverse ? `1/${price}` : (ratio ?? band?.join('-'))
      return [`${currency}/${anchor}`, units, since, until ?? ''].join(' ').trim()
    })
    expect(rows).toEqual(rowsOf(RATIOS).map((row) => row.join(' ')))
    for (const { currency, anchor, until, authority, source } of OFFICIAL_PEGS) {
      const codes = [anchor, ...(until === null ? [currency] : [])]
      expect(codes.map((code) => findCurrency(code)?.code)).toEqual(codes)
      expect([authority === '', new URL(source).protocol]).toEqual([false, 'https:'])
    }
    // Those that ended agree with the ratios at which their currencies were withdrawn.
    expect(findWithdrawn('BGN')).toMatchObject({ successor: 'EUR', ratio: 1.95583 })
    expect(findWithdrawn('ANG')).toMatchObject({ successor: 'XCG', ratio: 1 })
  })
})

describe.skipIf(!HAS_RECORDINGS)(`official pegs, by Banca d'Italia ${NEEDS_RECORDINGS}`, () => {
  it('are within half a percent of its rates of a day of 2026', () => {
    const lines = readFileSync(recording('data/banks/bdi/01.csv'), 'latin1').split(/\r?\n/)
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

const OWN = { name: 'Treasury', url: 'https://example.com/rates' }
const january = { base: 'EUR', rates: { USD: 1.1 }, since: '2026-01-01', until: '2026-01-31' }

describe('invalid options', () => {
  const ratio = (change: object) => () =>
    fixed(ecb(), [{ currency: 'XPT', anchor: 'USD', ratio: 100, ...change }])
  const own = (change: object) => () => overlay(ecb(), { rates: january, ...OWN, ...change })

  it.each<[call: () => unknown, message: string]>([
    [ratio({ currency: 'xpt' }), 'two upper-case codes'],
    [ratio({ anchor: 'XPT' }), 'two upper-case codes'],
    [ratio({ ratio: 0 }), 'must be above 0, got 0'],
    [ratio({ since: '2026-02-30' }), 'YYYY-MM-DD, got 2026-02-30'],
    [ratio({ rate: 1 }), 'unknown option "rate"'],
    [() => fixed(ecb(), Object({})), 'ratios must be an array'],
    [() => pegged(Object({})), 'provider must be a provider'],
    [own({ url: 'rates' }), 'must be an absolute http or https URL'],
    [own({ name: 1 }), 'attribution'],
    [own({ rates: { base: 'EUR', rates: { usd: 1 } } }), 'two upper-case codes'],
    [own({ rate: 1 }), 'unknown option "rate"'],
    [() => overlay(own({})(), { rates: january, ...OWN }), 'must have no other overlay'],
  ])('%s throws %j', (call, message) => {
    expect(call).toThrow(message)
  })
})

describe('overlay()', () => {
  const own = { derived: 'overlay', source: { name: 'Treasury (overlay)', url: OWN.url } }

  it('puts your rates on top, with you as their source', async () => {
    const rates = [january, { base: 'EUR', rates: { USD: 1.2, XPT: 50 }, since: '2026-11-01' }]
    const provider = overlay(ecb(), { rates, ...OWN })
    const { json } = open({ latest: provider, history: provider })
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
      expect(await json(`v1/latest?base=EUR&date=${date}`)).not.toHaveProperty('derived')
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
    const provider = overlay(ecb(), { rates: january, ...OWN })
    const { json, handler } = open({ history: provider, latest: false })
    for (let round = 0; round < 2; round += 1) {
      const { source, derived } = await json(`v1/history?from=EUR&to=USD&${query}`)
      const expected = isOwn ? ['Treasury (overlay)', 'overlay'] : [SOURCE.name, undefined]
      expect([source.name, derived]).toEqual(expected)
      expect(await json(`v1/history?from=EUR&to=GBP&${query}`)).not.toHaveProperty('derived')
      await handler.refresh()
    }
  })

  const points = { currency: 'XPT', anchor: 'AED', ratio: 100 }
  const wraps: Record<string, (provider: Both) => Both> = {
    o: (provider) => overlay(provider, { rates: { ...january, until: '2026-11-30' }, ...OWN }),
    f: (provider) => fixed(provider, [points]),
    p: pegged,
  }

  it('is followed by pegs and ratios of its currencies, in any order of the wrappings', async () => {
    const store = createMemoryStore()
    const seen = new Set<string>()
    for (const order of ['o f p', 'o p f', 'f o p', 'f p o', 'p o f', 'p f o']) {
      const wrapped = order.split(' ').reduce((each, kind) => wraps[kind]?.(each) ?? each, ecb())
      const { json, text, events } = open({ latest: wrapped, history: wrapped }, { store })
      for (const date of ['', '&date=2026-01-15']) {
        const rateOf = (pair: string) => json(`v1/convert?${pair}${date}`)
        expect(await rateOf('from=USD&to=AED')).toMatchObject({ rate: 3.6725, ...own })
        expect(await rateOf('from=EUR&to=AED')).toMatchObject({ rate: 4.03975, ...own })
        expect(await rateOf('from=EUR&to=XPT')).toMatchObject({ rate: 403.975, ...own })
        expect(await rateOf('from=EUR&to=XOF')).toMatchObject({ rate: 655.957, derived: 'peg' })
      }
      const before = '&date=2025-06-16'
      expect(await json(`v1/convert?from=EUR&to=AED${before}`)).toMatchObject({ derived: 'peg' })
      const source = { name: 'Fixed rates (fixed)' }
      const other = await json(`v1/convert?from=XPT&to=AED${before}`)
      expect(other).toMatchObject({ rate: 0.01, derived: 'fixed', source })
      seen.add(await text('v1/latest?base=EUR'))
      // All orders have the same stored data.
      expect(events.filter(({ type }) => type === 'rates_rejected')).toEqual([])
    }
    expect(seen.size).toBe(1)
  })

  it('does not take other rates of yours from a store, nor leave yours to others', async () => {
    const store = createMemoryStore()
    const wrapped = (USD: number) =>
      overlay(ecb(), { rates: { base: 'EUR', rates: { USD } }, ...OWN })
    for (const [provider, rate] of [
      [wrapped(1.1), 1.1],
      [wrapped(1.2), 1.2],
      [ecb(), 1.1594],
      [wrapped(1.2), 1.2],
    ] as const) {
      const { json } = open({ latest: provider, history: provider }, { store })
      for (const query of ['', '&date=2024-02-29', '&date=2001-02-28']) {
        expect(await json(`v1/convert?from=EUR&to=USD${query}`)).toMatchObject({ rate })
      }
    }
  })

  it('keeps the direction in which the provider quotes a currency', async () => {
    const rates = { base: 'PLN', rates: { EUR: 0.25 }, since: '2026-11-10' }
    const nbp = overlay(createNbpProvider(), { rates, ...OWN })
    const { json } = open({ latest: nbp, history: nbp })
    expect(await json('v1/convert?from=EUR&to=PLN')).toMatchObject({ rate: 4, derived: 'overlay' })
    const { points } = await json('v1/history?from=EUR&to=PLN&start=2026-11-02&end=2026-11-20')
    const days: string[] = points.map(({ d }: Json) => d)
    expect(days.filter((_, at) => points[at].r === 4)).toEqual(
      days.filter((day) => day >= '2026-11-10'),
    )
  })

  it('fails, with an event, if it has a rate of the base of the provider', async () => {
    const latest = overlay(ecb(), { rates: { base: 'USD', rates: { EUR: 0.9 } }, ...OWN })
    const { get, events } = open({ latest, history: false })
    expect((await get('v1/latest')).status).toBe(502)
    expect(JSON.stringify(events)).toContain("own rates must not include EUR, the provider's base")
  })
})

describe('a hand-written provider', () => {
  it('flags the days that it derives, also from a store, whose older texts flag all days', async () => {
    const store = createMemoryStore()
    const derived = { USD: 'fixed' } as const
    const flags = async (fetchHistory: HistoryProvider['fetchHistory']): Promise<unknown[]> => {
      const history = { attribution: SOURCE, fetchHistory }
      const { json } = open({ history, latest: false }, { store })
      const of = async (date: string): Promise<Json> =>
        (await json(`v1/convert?from=EUR&to=USD&date=${date}`)).derived
      return [await of('2026-11-13'), await of('2026-11-16')]
    }
    const flagging: HistoryProvider['fetchHistory'] = async (range, context) => {
      const { base, days } = await ecb().fetchHistory(range, context)
      return {
        base,
        days: days.map((day) => (day.date < '2026-11-16' ? day : { ...day, derived })),
      }
    }
    expect(await flags(flagging)).toEqual([undefined, 'fixed'])
    expect(await flags(failing)).toEqual([undefined, 'fixed'])
    const text = String(await store.get('rates:v1:history')).replace(/^{"digest":"\w+",/, '')
    const [head, days = ''] = text.split('"days":')
    const flag = `"derived":${JSON.stringify(derived)},`
    const old = `${head}${flag}"days":${days.replaceAll(flag, '')}`
    await store.set('rates:v1:history', `{"digest":"${digestOf(old)}",${old}`, HOUR)
    expect(await flags(failing)).toEqual(['fixed', 'fixed'])
  })

  it('is rejected if it derives rates in an unknown way, which could not be flagged', async () => {
    const table = { base: 'EUR', rates: RATES, updatedAt: NOW, nextUpdateAt: NOW + HOUR }
    const fetchLatest = async () => Object({ ...table, derived: { USD: 'guess' } })
    const { get } = open({ latest: { attribution: SOURCE, fetchLatest }, history: false })
    expect((await get('v1/latest')).status).toBe(502)
  })
})
