import { createRatesHandler } from 'ratesmith'
import type { HistoryProvider, RatesHandler, RouteFunction } from 'ratesmith'
import { createMcpHandler } from 'ratesmith/mcp'
import { fakeProviders } from 'ratesmith/testing'

/** The time of all requests: a Friday evening, after both publications. */
const NOW = Date.UTC(2026, 10, 20, 18)

/** A source of days whose year 2018 is gone. */
const INCOMPLETE: HistoryProvider = {
  attribution: { name: 'Incomplete source', url: 'https://incomplete.example' },
  publication: {
    id: 'incomplete',
    frequency: 'daily',
    holidays: [],
    time: '12:00',
    timeZone: 'UTC',
    since: '1999-01-04',
  },
  maxDays: 366,
  async fetchHistory({ start, end }) {
    if (start === '2018-01-01') {
      throw Object.assign(new Error('gone'), { status: 404, retryAfterMs: 21_600_000 })
    }
    const days = Array.from({ length: (Date.parse(end) - Date.parse(start)) / DAY_MS + 1 })
    return {
      base: 'EUR',
      days: days.map((_, index) => {
        const date = new Date(Date.parse(start) + index * DAY_MS).toISOString().slice(0, 10)
        return { date, rates: { XAU: 0.0005, XAG: 0.04 } }
      }),
    }
  },
}

const DAY_MS = 86_400_000

/** Creates a handler of the built package with the same responses in every process. */
export function createConformanceHandler(basePath: string): RatesHandler {
  const now = (): number => NOW
  const quotes = { secrets: ['the same secret in every process'] }
  const { latest, history } = fakeProviders({ seed: 1, now })
  const providers = { latest, history: [history, INCOMPLETE] }
  const mcp: RouteFunction = (request, rates) => createMcpHandler(rates)(request)
  const routes = [{ path: `${basePath}/mcp`, post: mcp }]
  return createRatesHandler({ basePath, now, quotes, providers, routes })
}
