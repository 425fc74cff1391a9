import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
import type { HistoryProvider } from 'ratesmith'
import { createEcbProvider } from 'ratesmith/providers/ecb'
import { fakeProviders } from 'ratesmith/testing'

import { ecbDays, historyZip } from '../../test/fixtures/ecb-files.ts'
import type { Comparison } from './comparison.ts'
import { NOW, request } from './responses.ts'

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
    measuresLoopDelay: true,
    reference,
    goal: 1.5,
  })
  return [
    load('a synthetic market', fakeProviders().history, ''),
    load('Frankfurter', createFrankfurterProvider(), json),
    load('the archive of the European Central Bank', createEcbProvider(), historyZip(days)),
  ]
}
