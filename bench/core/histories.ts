import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
import type { HistoryProvider } from 'ratesmith'
import { createEcbProvider } from 'ratesmith/providers'
import { fakeProviders } from 'ratesmith/testing'

import { toDay } from '../../src/rates/dates.ts'
import { ecbDays, historyZip } from '../../test/fixtures/ecb-files.ts'
import type { Comparison } from './comparison.ts'
import { NOW, request } from './responses.ts'

const CODES = 'AUD CAD CHF CZK DKK EUR GBP HUF JPY NOK NZD PLN SEK USD'.split(' ')

const PAIRS = CODES.flatMap((from, index) =>
  [3, 8].map((step) => [from, CODES[(index + step) % CODES.length] ?? ''] as const),
)

const SINCE_1999 = '/api/v1/history?from=USD&to=JPY&start=1999-01-04'

/** Compares uncached histories of five years, in turn, with `JSON.stringify` of the same points; and other forms with JSON. */
export async function computedHistories(): Promise<Comparison[]> {
  const handler = createRatesHandler({
    providers: fakeProviders(),
    now: () => NOW,
    responseCacheBytes: 0,
  })
  const requests = PAIRS.map(([from, to]) =>
    request(`/api/v1/history?from=${from}&to=${to}&period=5Y`),
  )
  const points: unknown[] = []
  for (const each of requests) {
    const { body } = await handler.answer(each)
    if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw new Error('no body')
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
    points.push(JSON.parse(text).points)
  }
  let [asked, written] = [0, 0]
  const nextRequest = () => requests[(asked += 1) % requests.length] ?? request(SINCE_1999)
  const compute = (more: string) => () => handler.answer(request(`${SINCE_1999}${more}`))
  await compute('')()
  const daily = { name: 'the same as daily JSON', run: compute('') }
  return [
    {
      name: 'history 5Y, computed: `handler.answer()`',
      ours: () => handler.answer(nextRequest()),
      reference: {
        name: '`JSON.stringify` of the points',
        run: () => JSON.stringify(points[(written += 1) % points.length]),
      },
      goal: 1.5,
    },
    {
      name: 'history since 1999 as CSV, computed',
      ours: compute('&format=csv'),
      reference: daily,
      goal: 3,
    },
    {
      name: 'history since 1999 by week, computed',
      ours: compute('&interval=week'),
      reference: daily,
      goal: 1,
    },
  ]
}

function parsing(json: string): Comparison['reference'] {
  return {
    name: `\`JSON.parse\` of ${json.length.toLocaleString('en')} characters`,
    run: (): unknown => JSON.parse(json),
  }
}

/**
 * Compares the longest block of the event loop during the first load of all days with `JSON.parse` of the same days.
 */
export function firstLoads(): Comparison[] {
  const days = ecbDays('1999-01-04', toDay(NOW), NOW)
  const rates = Object.fromEntries(days.map((day) => [day.date, day.rates]))
  const json = JSON.stringify({ amount: 1, base: 'EUR', rates })
  const load = (what: string, history: HistoryProvider, body: BodyInit): Comparison => ({
    name: `longest event-loop block in the first load of ${what}`,
    ours: async () => {
      const handler = createRatesHandler({
        providers: { latest: fakeProviders().latest, history },
        fetch: async () => new Response(body),
        now: () => NOW,
        responseCacheBytes: 0,
      })
      await handler.answer(request(SINCE_1999))
      handler.close()
    },
    measures: 'loop-delay',
    reference: parsing(json),
    goal: 1.5,
  })
  return [
    load('a synthetic market', fakeProviders().history, ''),
    load('Frankfurter', createFrankfurterProvider(), json),
    load('the archive of the European Central Bank', createEcbProvider(), historyZip(days)),
  ]
}
