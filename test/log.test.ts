import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { consoleLogger, createRatesHandler } from '../src/index.ts'
import type {
  ConsoleLoggerOptions,
  LatestTable,
  ProviderContext,
  RatesEvent,
} from '../src/index.ts'
import { failingProvider, fakeClock, fakeProviders } from '../src/testing/index.ts'
import { eventsWith } from './fixtures/events.ts'

const lines = { info: Array<string>(), warn: Array<string>(), error: Array<string>() }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  for (const method of ['info', 'warn', 'error'] as const) {
    lines[method] = []
    vi.spyOn(console, method).mockImplementation((line) => void lines[method].push(line))
  }
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Logs `event` at each of the `instants`; returns the warnings. */
function warningsOf(format: 'text' | 'json', event: RatesEvent, instants = [0]): string[] {
  lines.warn = []
  const log = consoleLogger({ format })
  for (const instant of instants) {
    vi.setSystemTime(instant)
    log(event)
  }
  return lines.warn
}

it('the log of corrected rates has the published and the served rates, with every digit', () => {
  const corrected: RatesEvent = {
    type: 'rates_deviating',
    dataSet: 'latest',
    provider: 'Test',
    corrections: [
      { code: 'BGN', published: 57, corrected: 1.70398559422 },
      { code: 'ZWL', published: 26.5, corrected: 66_216.1913 },
    ],
  }
  expect(warningsOf('text', corrected)).toEqual([
    'ratesmith: latest rates: Test: corrected BGN from 57 to 1.70398559422, ZWL from 26.5 to 66216.1913',
  ])
  const { type: event, ...fields } = corrected
  const record = { time: '1970-01-01T00:00:00.000Z', level: 'warn', event, ...fields }
  expect(warningsOf('json', corrected)).toEqual([JSON.stringify(record)])
})

it('the log of a time has whole ms, or s', () => {
  const log = consoleLogger({ format: 'text', level: 'info' })
  log({ type: 'upstream_response', dataSet: 'latest', provider: 'Test', elapsed: 1_234.6 })
  log({ type: 'stale_served', dataSet: 'latest', overdue: 5_499 })
  expect(lines.info).toEqual(['ratesmith: latest rates: Test: responded in 1235 ms'])
  expect(lines.warn).toEqual([expect.stringContaining('overdue by 5 s')])
})

describe.each<RatesEvent>([
  { type: 'stale_served', dataSet: 'latest', overdue: 5_000 },
  { type: 'overloaded', waiting: 1_000 },
])('the log of responses: $type', ({ type, ...fields }) => {
  const HOUR = 3_600_000
  const event = Object({ type, ...fields })

  it.each([
    ['one line per minute', [0, 1_000, 59_999, 60_000, 60_001], [1, 3]],
    ['a line when the clock is set back', [HOUR, 0, 1], [1, 1]],
  ])('has %s, with the number of responses since the last', (_, instants, counts) => {
    const logged = warningsOf('json', event, instants).map((line): unknown => JSON.parse(line))
    expect(logged).toMatchObject(
      counts.map((count) => ({ event: type, answers: count, ...fields })),
    )
    expect(warningsOf('text', event)).toEqual([expect.stringMatching(/ 1 (responses|requests) /)])
  })
})

it.each(['text', 'json'] as const)(
  'each event is at most one line of %s, without control characters',
  (format) => {
    const codes = [...Array(0x2100).keys(), 0xfeff, 0xfff9, 0xe0001, 0xe007f]
    const text = `a\r\n${codes.map((code) => String.fromCodePoint(code)).join('')}level=error`
    const log = consoleLogger({ format, level: 'info' })
    for (const event of Object.values(eventsWith(text))) log(event)
    const logged = Object.values(lines).flat()
    expect(logged.length).toBeGreaterThan(20)
    expect(logged.filter((line) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(line))).toEqual([])
  },
)

describe('consoleLogger()', () => {
  /** Lets a handler serve two requests for latest rates. */
  async function serve(change: (table: LatestTable) => object, options?: ConsoleLoggerOptions) {
    const { latest, history } = fakeProviders()
    const attribution = { name: 'Our treasury', url: 'https://treasury.example' }
    async function fetchLatest(context: ProviderContext) {
      const table = await latest.fetchLatest(context)
      return Object.assign(table, change(table))
    }
    const handler = createRatesHandler({
      now: fakeClock('2026-11-20T18:00:00Z'),
      providers: { latest: { attribution, fetchLatest }, history },
      onEvent: consoleLogger(options),
    })
    for (let count = 0; count < 2; count += 1) {
      await handler(new Request('http://localhost/api/v1/latest'))
    }
    return lines
  }

  it.each<[string, (table: LatestTable) => object, string]>([
    [
      'seconds instead of ms',
      ({ updatedAt }) => ({ updatedAt: updatedAt / 1_000 }),
      'updatedAt is in seconds, not in ms',
    ],
    [
      'a rate as a string',
      () => ({ rates: { USD: 1, EUR: '0.9' } }),
      '1 of 2 rates are not numbers from 1e-100 to 1e+100: EUR',
    ],
    [
      'codes in lower case',
      () => ({ rates: { usd: 1, gbp: 0.8 } }),
      'expected rates by upper-case codes, got only the base, and 2 invalid codes, some in lower case',
    ],
  ])('warns once of %s', async (_, change, reason) => {
    const warn = [`ratesmith: latest rates: Our treasury: rejected: ${reason}`]
    expect(await serve(change)).toEqual({ info: [], warn, error: [] })
  })

  it('logs successes only at the level info, and nothing below its level', async () => {
    expect(await serve(() => ({}))).toEqual({ info: [], warn: [], error: [] })
    await serve(() => ({ updatedAt: NaN }), { level: 'error' })
    expect(lines.warn).toEqual([])
    await serve(() => ({}), { level: 'info' })
    expect(lines.info).toEqual([
      expect.stringMatching(/^ratesmith: latest rates: Our treasury: .*\d+ ms$/),
      expect.stringMatching(/refresh .* 20\d\d-\d\d-/),
      'ratesmith: latest rates: Our treasury: updated, published 2026-11-20T15:00:00.000Z',
    ])
  })

  it('logs an internal error as an error, without its stack', () => {
    consoleLogger()({ type: 'internal_error', error: new TypeError('oops') })
    expect(lines.error).toEqual(['ratesmith: internal error: TypeError: oops'])
  })

  it('logs the failure of every provider, also as JSON for machines', async () => {
    const upstream = failingProvider('unauthorized')
    const providers = { latest: upstream, history: upstream }
    const handler = createRatesHandler({ now: fakeClock(), providers, onEvent: consoleLogger() })
    await handler.refresh()
    expect(lines.warn).toEqual([
      expect.stringMatching(/^ratesmith: latest rates: Failing provider \(unauthorized\): .*401/),
      expect.stringMatching(/^ratesmith: history rates: Failing provider \(unauthorized\): .*401/),
    ])
    lines.warn = []
    await serve(() => ({ base: 'usd' }), { format: 'json' })
    expect(lines.warn.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'warn', event: 'rates_rejected', provider: 'Our treasury' },
      { level: 'warn', event: 'refresh_failed' },
    ])
  })

  it.each<[object, RegExp]>([
    [{ level: 'debug' }, /^level must be one of info, warn, error, got debug$/],
    [{ format: 'xml' }, /^format must be one of text, json, got xml$/],
  ])('throws a TypeError for %o', (options, message) => {
    expect(() => consoleLogger(options)).toThrow(message)
  })
})
