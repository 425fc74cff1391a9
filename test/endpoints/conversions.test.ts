import { describe, expect, it } from 'vitest'

import {
  BANK_SOURCE,
  LATEST_SOURCE,
  UPDATED_AT,
  openMarket,
} from '../fixtures/hand-written-market.ts'
import { rowsOf } from '../fixtures/rows.ts'

const latestEnd = { updatedAt: UPDATED_AT, source: LATEST_SOURCE }

/** 16:00 in Frankfurt, in winter. */
function endOf(date: string) {
  return { date, updatedAt: Date.parse(`${date}T15:00:00Z`), source: BANK_SOURCE }
}

/** Reads converted amounts from rows of code, rate and result. */
function resultsOf(text: string) {
  const amounts = rowsOf(text).map(([code = '', rate, result]) => {
    return [code, { rate: Number(rate), result: Number(result) }]
  })
  return { results: Object.fromEntries(amounts) }
}

describe('a conversion', () => {
  it.each<[what: string, query: string, start: object, end: object]>([
    [
      'into several currencies, by code in the requested order',
      'from=eur&to=jpy,USD,%20KWD%20,,Jpy&amount=2.5',
      {
        from: 'EUR',
        amount: 2.5,
        ...resultsOf('JPY 187.5 468.75|USD 1.25 3.125|KWD 0.375 0.9375'),
      },
      latestEnd,
    ],
    [
      'in reverse, at the rate of the conversion',
      'from=USD&to=KWD&amount=100&reverse=true',
      { from: 'USD', to: 'KWD', amount: 100, rate: 0.3, result: 333.333333333333, reverse: true },
      latestEnd,
    ],
    [
      'in reverse, for each of several currencies',
      'reverse=true&from=USD&to=KWD,EUR,USD&amount=0.1',
      {
        from: 'USD',
        amount: 0.1,
        ...resultsOf('KWD 0.3 0.333333333333333|EUR 0.8 0.125|USD 1 0.1'),
      },
      { reverse: true, ...latestEnd },
    ],
    [
      'in reverse on a day, for each of several currencies',
      'date=2022-12-31&reverse=true&from=HRK&to=EUR,usd&amount=100',
      {
        from: 'HRK',
        amount: 100,
        ...resultsOf('EUR 0.1326875871 753.649999864984|USD 0.1415245804 706.591036817517'),
      },
      { reverse: true, ...endOf('2022-12-30') },
    ],
  ])('%s, returns JSON: %s', async (_what, query, start, end) => {
    expect(await openMarket().text(`/v1/convert?${query}`)).toBe(
      JSON.stringify({ ...start, ...end }),
    )
  })
})

describe('a conversion into several currencies', () => {
  it('includes a withdrawn currency while the feed has it, and each code once', async () => {
    const { json } = openMarket()
    const { results } = await json('/v1/convert?from=USD&to=SLL,EUR')
    expect(results.SLL).toEqual({ rate: 22_000, result: 22_000 })
    const to = Array.from({ length: 125 }, () => 'EUR,jpy').join(',')
    const both = await json(`/v1/convert?from=USD&to=${to}`)
    expect(Object.keys(both.results)).toEqual(['EUR', 'JPY'])
  })
})

describe('a conversion on a day', () => {
  it('loads five years of reference rates, or all for earlier days, and never latest rates', async () => {
    const { calls, text } = openMarket()
    await text('/v1/convert?from=EUR&to=USD&date=2026-11-20')
    expect(calls).toEqual(['history since 2021-11-06'])
    await text('/v1/convert?from=EUR&to=USD&date=2000-03-01')
    expect(calls).toEqual(['history since 2021-11-06', 'history since 1999-01-04'])
  })
})

describe('one conversion at the latest rates', () => {
  const plain = '/v1/convert?from=USD&to=JPY&amount=2.5'

  it('loads only latest rates', async () => {
    const { calls, text } = openMarket()
    await text(plain)
    await text(`${plain}&reverse=true`)
    await text('/v1/convert?from=USD&to=EUR,JPY')
    expect(calls).toEqual(['latest'])
  })
})
