import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
import type { HistoryProvider } from 'ratesmith'
import { createEcbProvider } from 'ratesmith/providers/ecb'
import { fakeProviders } from 'ratesmith/testing'

import { ecbDays, historyZip } from '../../test/fixtures/ecb-files.ts'
import { NOW, request } from './responses.ts'
import type { Comparison } from './comparison.ts'

const TARGET = '/api/v1/history?from=USD&to=JPY&start=1999-01-04'

/** What a history of all days since 1999 costs in other forms than JSON by day, beside that; nothing of it is remembered. */
export async function formsSince1999(): Promise<Comparison[]> {
  const handler = createRatesHandler({
    providers: fakeProviders(),
    now: () => NOW,
    responseCacheBytes: 0,
  })
  const ask = (more: string) => () => handler.answer(request(`${TARGET}${more}`))
  await ask('')()
  const reference = { name: 'the same as JSON by day', run: ask('') }
  return [
    { name: 'history since 1999 as CSV, computed', ours: ask('&format=csv'), reference, goal: 3 },
    {
      name: 'history since 1999 by week, computed',
      ours: ask('&interval=week'),
      reference,
      goal: 1,
    },
  ]
}

/** How long the first load of all days keeps the event loop at most, beside `JSON.parse` of the same days. */
export function firstLoads(): Comparison[] {
  const days = ecbDays('1999-01-04', '2026-11-20', NOW)
  const rates = Object.fromEntries(days.map((day) => [day.date, day.rates]))
  const json = JSON.stringify({ amount: 1, base: 'EUR', rates })
  const reference = {
    name: `\`JSON.parse\` of ${json.length.toLocaleString('en')} characters`,
    run: (): unknown => JSON.parse(json),
  }
  const load = (what: string, history: HistoryProvider, body: BodyInit): Comparison => ({
    name: `longest turn in the first load of ${what}`,
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
    isLongestTurn: true,
    reference,
    goal: 1.5,
  })
  return [
    load('a synthetic market', fakeProviders().history, ''),
    load('Frankfurter', createFrankfurterProvider(), json),
    load('the archive of the European Central Bank', createEcbProvider(), historyZip(days)),
  ]
}
