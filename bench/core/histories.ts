import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
import type { HistoryProvider } from 'ratesmith'
import { createEcbProvider } from 'ratesmith/providers/ecb'
import { fakeProviders } from 'ratesmith/testing'

import { runAtOnce } from '../../src/async.ts'
import { readEcbCsv } from '../../src/providers/ecb/files.ts'
import { toHistoryDays } from '../../src/providers/frankfurter.ts'
import { addDays, subtractMonths, toDay } from '../../src/rates/dates.ts'
import { pairSeries } from '../../src/rates/series.ts'
import { validateHistory } from '../../src/rates/validate.ts'
import { ecbDays, historyCsv, historyZip } from '../../test/fixtures/ecb-files.ts'
import { frankfurterPayload } from '../../test/fixtures/upstream-payloads.ts'
import type { Comparison } from './comparison.ts'
import { NOW, request } from './responses.ts'

const RANGE = {
  start: addDays(subtractMonths(toDay(NOW), 60), -14),
  end: toDay(NOW),
}

/** How a server processes its first download of reference rates. */
export interface Download extends Comparison {
  /** Size of the resulting columns, in bytes. */
  keptBytes: number
}

/** Compares turning five years of a market into validated columns with `JSON.parse` of their text. */
export async function downloads(): Promise<[ofText: Download, ofBody: Comparison]> {
  const text = frankfurterPayload({ ...RANGE, now: NOW })
  const provider = createFrankfurterProvider()
  const { signal } = new AbortController()
  const context = { fetch: async () => new Response(text), signal, now: () => NOW }
  const readText = () => {
    const response = { host: 'relay', status: 200, body: JSON.parse(text) }
    return validateHistory(toHistoryDays(response, RANGE.start), NOW)
  }
  const readBody = async () => validateHistory(await provider.fetchHistory(RANGE, context), NOW)
  const { data, dropped } = readText()
  if (dropped.length > 0) throw new Error(`dropped ${dropped.join(', ')}`)
  const reference = {
    name: `\`JSON.parse\` of ${text.length.toLocaleString('en')} characters`,
    run: () => JSON.parse(text),
  }
  return [
    {
      name: '5Y text, parsed into columns',
      ours: readText,
      reference,
      goal: 2,
      keptBytes: bytesOf(data),
    },
    { name: 'the same, including the read of its body', ours: readBody, reference },
  ]
}

/** Returns the bytes of all typed arrays in `value`. */
function bytesOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (typeof value !== 'object' || value === null) return 0
  const parts = value instanceof Map ? [...value.values()] : Object.values(value)
  return parts.reduce<number>((sum, part) => sum + bytesOf(part), 0)
}

const ALL_DAYS = { start: '1999-01-04', end: toDay(NOW) }

/**
 * Compares turning the history of the central bank since 1999 (some 7,000 days of 41 currencies) into validated columns
 * with `JSON.parse` of the same days; and extracting all rates of a pair from these columns with `JSON.stringify` of
 * them.
 */
export async function wholeHistories(): Promise<
  [ofText: Download, ofArchive: Comparison, ofPair: Comparison]
> {
  const days = ecbDays(ALL_DAYS.start, ALL_DAYS.end, NOW)
  const archive = historyZip(days)
  // One contiguous text, like the content of an archive.
  const text = new TextDecoder().decode(new TextEncoder().encode(historyCsv(days)))
  const json = JSON.stringify({ base: 'EUR', days })
  const readText = () => validateHistory({ base: 'EUR', days: runAtOnce(readEcbCsv(text)) }, NOW)
  const provider = createEcbProvider()
  const { signal } = new AbortController()
  const context = { fetch: async () => new Response(archive), signal, now: () => NOW }
  const readArchive = async () =>
    validateHistory(await provider.fetchHistory(ALL_DAYS, context), NOW)
  const { data, dropped } = readText()
  if (dropped.length > 0) throw new Error(`dropped ${dropped.join(', ')}`)
  const reference = {
    name: `\`JSON.parse\` of ${json.length.toLocaleString('en')} characters`,
    run: (): unknown => JSON.parse(json),
  }
  const points = days.map(({ date, rates }) => ({ date, rate: rates['USD'] }))
  return [
    {
      name: 'CSV since 1999, parsed into columns',
      ours: readText,
      reference,
      goal: 3,
      keptBytes: bytesOf(data),
    },
    { name: 'the same, including its archive', ours: readArchive, reference },
    {
      name: 'a pair without EUR since 1999, from columns',
      ours: () => pairSeries(data, { from: 'USD', to: 'JPY' }, ALL_DAYS),
      reference: { name: '`JSON.stringify` of as many points', run: () => JSON.stringify(points) },
    },
  ]
}

const TARGET = '/api/v1/history?from=USD&to=JPY&start=1999-01-04'

/** Compares uncached histories since 1999 in other formats with the same history as daily JSON. */
export async function formsSince1999(): Promise<Comparison[]> {
  const handler = createRatesHandler({
    providers: fakeProviders(),
    now: () => NOW,
    responseCacheBytes: 0,
  })
  const compute = (more: string) => () => handler.answer(request(`${TARGET}${more}`))
  await compute('')()
  const reference = { name: 'the same as daily JSON', run: compute('') }
  return [
    {
      name: 'history since 1999 as CSV, computed',
      ours: compute('&format=csv'),
      reference,
      goal: 3,
    },
    {
      name: 'history since 1999 by week, computed',
      ours: compute('&interval=week'),
      reference,
      goal: 1,
    },
  ]
}

/**
 * Compares the longest block of the event loop during the first load of all days with `JSON.parse` of the same days.
 */
export function firstLoads(): Comparison[] {
  const days = ecbDays('1999-01-04', '2026-11-20', NOW)
  const rates = Object.fromEntries(days.map((day) => [day.date, day.rates]))
  const json = JSON.stringify({ amount: 1, base: 'EUR', rates })
  const reference = {
    name: `\`JSON.parse\` of ${json.length.toLocaleString('en')} characters`,
    run: (): unknown => JSON.parse(json),
  }
  const load = (what: string, history: HistoryProvider, body: BodyInit): Comparison => ({
    name: `longest event-loop block in the first load of ${what}`,
    ours: async () => {
      const { latest } = fakeProviders()
      const providers = { latest, history }
      const fetch = async () => new Response(body)
      const handler = createRatesHandler({
        providers,
        fetch,
        now: () => NOW,
        responseCacheBytes: 0,
      })
      await handler.answer(request(TARGET))
      handler.close()
    },
    measures: 'loop-delay',
    reference,
    goal: 1.5,
  })
  return [
    load('a synthetic market', fakeProviders().history, ''),
    load('Frankfurter', createFrankfurterProvider(), json),
    load('the archive of the European Central Bank', createEcbProvider(), historyZip(days)),
  ]
}
