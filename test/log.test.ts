import { afterEach, describe, expect, it, vi } from 'vitest'

import { consoleLogger, createRatesHandler } from '../src/index.ts'
import type {
  ConsoleLoggerOptions,
  LatestTable,
  ProviderContext,
  RatesEvent,
} from '../src/index.ts'
import { createLog } from '../src/log.ts'
import type { LogFormat } from '../src/log.ts'
import { failingProvider, fakeClock, fakeProviders } from '../src/testing/index.ts'

const CORRECTED: RatesEvent = {
  type: 'rates_deviating',
  dataSet: 'latest',
  provider: 'Test',
  corrections: [
    { code: 'BGN', published: 57, corrected: 1.70398559422 },
    { code: 'ZWL', published: 26.5, corrected: 66_216.1913 },
  ],
}

/** Returns the lines of a log that receives `event` at each of the `instants`. */
function linesOf(format: LogFormat, event: RatesEvent, instants = [0]): string[] {
  let now = 0
  const lines: string[] = []
  const log = createLog({ format, write: (line) => void lines.push(line), now: () => now })
  for (const instant of instants) {
    now = instant
    log(event)
  }
  return lines
}

it('the log of corrected rates has the published and the served rates, with every digit', () => {
  expect(linesOf('text', CORRECTED)).toEqual([
    'ratesmith: latest rates: Test: corrected BGN from 57 to 1.70398559422, ZWL from 26.5 to 66216.1913',
  ])
  const { type: event, ...fields } = CORRECTED
  const record = { time: '1970-01-01T00:00:00.000Z', level: 'warn', event, ...fields }
  expect(linesOf('json', CORRECTED)).toEqual([JSON.stringify(record)])
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
    const lines = linesOf('json', event, instants).map((line): unknown => JSON.parse(line))
    expect(lines).toMatchObject(counts.map((count) => ({ event: type, answers: count, ...fields })))
    expect(linesOf('text', event)).toEqual([expect.stringMatching(/ 1 (responses|requests) /)])
  })
})

describe('consoleLogger()', () => {
  afterEach(() => vi.restoreAllMocks())

  /** Returns the console lines by method of a handler that gets two requests for latest rates. */
  async function linesAfter(
    change: (table: LatestTable) => object,
    options?: ConsoleLoggerOptions,
  ) {
    const lines = { info: [] as string[], warn: [] as string[], error: [] as string[] }
    for (const method of ['info', 'warn', 'error'] as const) {
      vi.spyOn(console, method).mockImplementation((line) => void lines[method].push(line))
    }
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
    const request = new Request('http://localhost/api/v1/latest')
    for (let count = 0; count < 2; count += 1) await handler(request)
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
    expect(await linesAfter(change)).toEqual({
      info: [],
      warn: [`ratesmith: latest rates: Our treasury: rejected: ${reason}`],
      error: [],
    })
  })

  it('logs successes only at the level info', async () => {
    expect(await linesAfter(() => ({}))).toEqual({ info: [], warn: [], error: [] })
    const { info } = await linesAfter(() => ({}), { level: 'info' })
    expect(info).toEqual([
      expect.stringMatching(/^ratesmith: latest rates: Our treasury: .*\d+ ms$/),
      expect.stringMatching(/refresh .* 20\d\d-\d\d-/),
      'ratesmith: latest rates: Our treasury: updated, published 2026-11-20T15:00:00.000Z',
    ])
  })

  it('leaves out events below its level', async () => {
    const rejected = { updatedAt: NaN }
    expect((await linesAfter(() => rejected, { level: 'error' })).warn).toEqual([])
  })

  it('logs an internal error as an error, without its stack', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    consoleLogger()({ type: 'internal_error', error: new TypeError('oops') })
    expect(error.mock.calls).toEqual([['ratesmith: internal error: TypeError: oops']])
  })

  it('logs JSON for machines', async () => {
    const { warn } = await linesAfter(() => ({ base: 'usd' }), { format: 'json' })
    expect(warn.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'warn', event: 'rates_rejected', provider: 'Our treasury' },
      { level: 'warn', event: 'refresh_failed' },
    ])
  })

  it('logs the failure of every provider', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const upstream = failingProvider('unauthorized')
    const providers = { latest: upstream, history: upstream }
    const handler = createRatesHandler({ now: fakeClock(), providers, onEvent: consoleLogger() })
    await handler.refresh()
    expect(warn.mock.calls.flat()).toEqual([
      expect.stringMatching(/^ratesmith: latest rates: Failing provider \(unauthorized\): .*401/),
      expect.stringMatching(/^ratesmith: history rates: Failing provider \(unauthorized\): .*401/),
    ])
  })

  it.each<[object, RegExp]>([
    [{ level: 'debug' }, /^level must be one of info, warn, error, got debug$/],
    [{ format: 'xml' }, /^format must be one of text, json, got xml$/],
  ])('throws a TypeError for %o', (options, message) => {
    expect(() => consoleLogger(options)).toThrow(message)
  })
})
