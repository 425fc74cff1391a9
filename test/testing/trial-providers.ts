import type {
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../../src/index.ts'
import { fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { FakeClock, ProviderContractOptions } from '../../src/testing/index.ts'

type Fetch = typeof fetch

/** Wraps the `fetch` of a provider; `good` is the body of a good response. */
export type Client = (fetch: Fetch, good: string) => Fetch

/** Changes to a good provider. */
export interface Change extends Pick<HistoryProvider, 'publication' | 'maxDays' | 'fetchSeries'> {
  attribution?: { name: string; url: string }
  client?: Client
  modify?(argument: object): void
  table?(table: LatestTable, previous: LatestTable | undefined): LatestTable
  validateStored?: NonNullable<LatestProvider['validateStored']>
  days?(
    days: HistoryDays,
    range: { start: string; end: string },
  ): HistoryDays | Promise<HistoryDays>
}

const clock: FakeClock = fakeClock('2026-11-20T18:00:00Z')

const market = fakeProviders({ now: clock })

const attribution = { name: 'Our treasury', url: 'https://treasury.example' }

const context = { fetch, signal: new AbortController().signal, now: clock }

const MONTH = { start: '2026-10-21', end: '2026-11-20' }

/** Returns options for the provider of latest rates in the documentation, with `change`. */
export async function latestTrial(change: Change = {}): Promise<ProviderContractOptions> {
  const { rates } = await market.latest.fetchLatest(context)
  const good = JSON.stringify({ published: '2026-11-20T16:00:00Z', usd: rates })
  return { now: clock, latest: () => treasury(change, good), fetch: () => new Response(good) }
}

/** Returns options for a good provider of history, with `change`. */
export async function historyTrial(change: Change = {}): Promise<ProviderContractOptions> {
  const textOf = async (range: typeof MONTH): Promise<string> =>
    JSON.stringify(await market.history.fetchHistory(range, context))
  const good = await textOf(MONTH)
  return {
    now: clock,
    history: () => archive(change, good),
    async fetch({ url }) {
      const { searchParams } = new URL(url)
      const [start, end] = [searchParams.get('start') ?? '', searchParams.get('end') ?? '']
      return new Response(await textOf({ start, end }))
    },
  }
}

/** Returns a function that reads JSON with one client per provider, as it may have a cache. */
function readerOf({ client = (fetch) => fetch }: Change, good: string) {
  let upstream: Fetch = fetch
  const read = client((...request) => upstream(...request), good)
  return async ({ fetch, signal }: ProviderContext, url: string) => {
    upstream = fetch
    const response = await read(url, { signal })
    if (!response.ok) throw new Error(`upstream returned HTTP ${response.status}`)
    return response.json()
  }
}

function treasury(change: Change, good: string): LatestProvider {
  const { modify = () => {}, table = (each) => each } = change
  const read = readerOf(change, good)
  return {
    attribution,
    ...change,
    async fetchLatest(context) {
      const { published, usd } = await read(context, 'https://treasury.example/rates.json')
      const updatedAt = Date.parse(published)
      modify(context)
      const good = { base: 'USD', updatedAt, nextUpdateAt: updatedAt + 3_600_000, rates: usd }
      return table(good, context.previous)
    },
  }
}

function archive(change: Change, good: string): HistoryProvider {
  const { modify = () => {}, days = (each) => each, maxDays = Infinity } = change
  const read = readerOf(change, good)
  return {
    attribution,
    ...change,
    async fetchHistory(range, context) {
      const isTooLong = Date.parse(range.end) - Date.parse(range.start) >= maxDays * 86_400_000
      if (isTooLong) throw new Error(`more than ${maxDays} days`)
      const query = new URLSearchParams({ ...range })
      const { base, days: found } = await read(context, `https://archive.example/days?${query}`)
      const requested = { ...range }
      modify(context)
      modify(range)
      return days({ base, days: [...found] }, requested)
    },
  }
}
