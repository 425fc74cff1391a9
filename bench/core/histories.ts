import { deepEqual } from 'node:assert/strict'

import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
import type { HistoryProvider } from 'ratesmith'
import { createEcbProvider } from 'ratesmith/providers'
import { fakeProviders } from 'ratesmith/testing'

import { runAtOnce } from '../../src/async.ts'
import { readEcbCsv } from '../../src/providers/ecb/files.ts'
import { toHistoryDays } from '../../src/providers/frankfurter.ts'
import { addDays, subtractMonths, toDay } from '../../src/rates/dates.ts'
import { validateHistory } from '../../src/rates/validate.ts'
import { ecbDays, historyCsv, historyZip } from '../../test/fixtures/ecb-files.ts'
import { frankfurterPayload } from '../../test/fixtures/upstream-payloads.ts'
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
      goal: 1,
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

/** How a server processes a download of reference rates. */
export interface Download extends Comparison {
  /** Size of the resulting columns, in bytes. */
  keptBytes: number
}

/** Compares turning downloads into validated columns with `JSON.parse` of the same days: five years, and all since 1999. */
export function downloads(): Download[] {
  const start = addDays(subtractMonths(toDay(NOW), 60), -14)
  const end = toDay(NOW)
  const fiveYears = frankfurterPayload({ start, end, now: NOW })
  const days = ecbDays('1999-01-04', end, NOW)
  // One contiguous text, like the content of an archive.
  const csv = new TextDecoder().decode(new TextEncoder().encode(historyCsv(days)))
  return [
    download('5Y text, parsed into columns', 2, fiveYears, () =>
      toHistoryDays({ host: 'relay', status: 200, body: JSON.parse(fiveYears) }, { start, end }),
    ),
    download(
      'CSV since 1999, parsed into columns',
      3,
      JSON.stringify({ base: 'EUR', days }),
      () => ({
        base: 'EUR',
        days: runAtOnce(readEcbCsv(csv)),
      }),
    ),
  ]
}

function download(
  name: string,
  goal: number,
  json: string,
  read: () => Parameters<typeof validateHistory>[0],
): Download {
  const { data, dropped } = validateHistory(read(), NOW)
  deepEqual(dropped, [])
  return {
    name,
    ours: () => validateHistory(read(), NOW),
    reference: parsing(json),
    goal,
    keptBytes: bytesOf(data),
  }
}

function bytesOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (typeof value !== 'object' || value === null) return 0
  const parts = value instanceof Map ? [...value.values()] : Object.values(value)
  return parts.reduce<number>((sum, part) => sum + bytesOf(part), 0)
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
