import { describe, expect, it } from 'vitest'

import {
  EUROPEAN_CENTRAL_BANK,
  toHistoryDays,
  toLatestTable,
  understood,
} from '../../src/providers/ecb-answers.ts'

const HOST = 'www.ecb.example'
const DAY = 86_400_000

/** When the rates of 20 November 2026 are due. */
const DUE = Date.UTC(2026, 10, 20, 15)

const friday = { date: '2026-11-20', rates: { USD: 1.16, JPY: 180.2 } }

describe('understood()', () => {
  it('is what is made of the body', async () => {
    const answer = { host: HOST, status: 200, body: 'a,b' }
    expect(await understood(answer, (body) => body.split(','))).toEqual(['a', 'b'])
  })

  it('fails with the status and the pause of a failure, whatever its body', async () => {
    const answer = { host: HOST, status: 503, body: 'a', retryAfterMs: 7_000 }
    await expect(understood(answer, (body) => body)).rejects.toMatchObject({
      name: 'UpstreamError',
      message: `${HOST} answered with status 503`,
      retryAfterMs: 7_000,
    })
  })

  it.each([new Error('there is no day'), 'there is no day'])(
    'says where the form differs: %s',
    async (thrown) => {
      const answer = { host: HOST, status: 200, body: '' }
      const read = (): Promise<never> => Promise.reject(thrown)
      await expect(understood(answer, read)).rejects.toThrow(
        `${HOST} answered in another form: there is no day`,
      )
    },
  )
})

it('names the bank', () => {
  expect(EUROPEAN_CENTRAL_BANK.name).toBe('European Central Bank')
  expect(new URL(EUROPEAN_CENTRAL_BANK.url).host).toBe('www.ecb.europa.eu')
})

describe('the days of the bank', () => {
  it('are those from the first to the last that was asked for', () => {
    const dates = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20']
    const days = dates.map((date) => ({ date, rates: { USD: 1.1 } }))
    const range = { start: '2026-11-18', end: '2026-11-19' }
    expect(toHistoryDays(days, range)).toEqual({ base: 'EUR', days: days.slice(1, 3) })
  })
})

describe('the latest table of the bank', () => {
  it('is that of its day, against the euro, until the next publication', () => {
    expect(toLatestTable([friday], DUE + DAY)).toEqual({
      base: 'EUR',
      updatedAt: DUE,
      nextUpdateAt: Date.UTC(2026, 10, 23, 15),
      rates: { EUR: 1, USD: 1.16, JPY: 180.2 },
    })
  })

  it.each([DAY, 60_000])('counts as published now where it is there %d ms early', (early) => {
    expect(toLatestTable([friday], DUE - early).updatedAt).toBe(DUE - early)
  })

  it('is not from more than a day ahead', () => {
    expect(() => toLatestTable([friday], DUE - DAY - 1)).toThrow(
      'the rates of 2026-11-20 are ahead of the clock',
    )
  })

  it.each([[[]], [[friday, friday]]])('is of one day alone, not of %j', (days) => {
    expect(() => toLatestTable(days, DUE)).toThrow(`there are ${days.length} days, not 1`)
  })
})
