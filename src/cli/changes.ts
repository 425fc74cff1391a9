import { MAX_HISTORIES } from '../api/history.ts'
import type { CurrencyList, HistoryList, LatestRates } from '../index.ts'
import type { RatesSession } from './session.ts'

/** Changes in percent by code; without the currencies that have no daily history. */
export type Changes = ReadonlyMap<string, number>

/** Covers the longest time between two publications. */
const BACK_MS = 10 * 86_400_000

/** Returns the change of each rate between the last two publications, up to the day of the rates if they have one. */
export async function loadChanges(
  { base, rates, date }: LatestRates & { date?: string },
  session: RatesSession,
): Promise<Changes> {
  const codes = await coveredCodes(session)
  const asked = Object.keys(rates).filter((code) => code !== base && codes.has(code))
  if (!codes.has(base)) return new Map()
  const range = date === undefined ? 'period=1W' : `start=${startOf(date)}&end=${date}`
  const changes = new Map([[base, 0]])
  for (let at = 0; at < asked.length; at += MAX_HISTORIES) {
    // A trailing comma makes one code a list.
    const to = `${asked.slice(at, at + MAX_HISTORIES).join()},`
    const { status, body } = await session.get(
      `/v1/history?from=${base}&to=${to}&${range}`,
      () => true,
    )
    if (status !== 200) continue
    const { series }: HistoryList = JSON.parse(body)
    for (const { to: code, points } of Object.values(series)) {
      const [before, last] = points.slice(-2)
      if (before && last) changes.set(code, Number(((last.r / before.r - 1) * 100).toFixed(4)))
    }
  }
  return changes
}

function startOf(date: string): string {
  return new Date(Date.parse(date) - BACK_MS).toISOString().slice(0, 10)
}

async function coveredCodes(session: RatesSession): Promise<Set<string>> {
  const { status, body } = await session.get('/v1/currencies')
  if (status !== 200) return new Set()
  const { currencies }: CurrencyList = JSON.parse(body)
  return new Set(currencies.filter(({ history }) => history).map(({ code }) => code))
}
