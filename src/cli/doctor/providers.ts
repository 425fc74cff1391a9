import { createRatesHandler } from '../../index.ts'
import type { DataSet, RatesEvent, RatesHandler, RatesHandlerOptions } from '../../index.ts'
import { toAge, toMinute } from '../terminal/age.ts'
import type { Upstreams } from '../upstreams.ts'
import { AFTER_REJECTION, adviceFor } from './advice.ts'
import type { CheckResult } from './check-result.ts'

type SingleProvider = Pick<RatesHandlerOptions, 'providers'> & Pick<Upstreams, 'fetch' | 'now'>

/** With a larger clock error, the age of rates is wrong. */
const MAX_CLOCK_SKEW_MS = 300_000

interface ObservedCalls {
  host: string
  /** How far the upstream's clock is ahead of this machine's, in ms; a `Date` header has whole seconds. */
  skew: number
}

/** Fetches from each provider of both data sets separately, without any cache. */
export async function checkProviders({ providers, ...shared }: Upstreams): Promise<CheckResult[]> {
  const found = await Promise.all([
    ...providers.latest.map((latest) =>
      checkProvider('latest', { providers: { latest }, ...shared }),
    ),
    ...providers.history.map((history) =>
      checkProvider('history', { providers: { history }, ...shared }),
    ),
  ])
  // Several upstreams may report the same wrong clock.
  const [clock] = found.flatMap(({ clock }) => clock)
  return [...found.map(({ provider }) => provider), ...(clock ? [clock] : [])]
}

// The archive comes from the same providers as recent history.
type CheckedDataSet = Exclude<DataSet, 'archive'>

interface ProviderChecks {
  provider: CheckResult
  clock: CheckResult[]
}

async function checkProvider(
  dataSet: CheckedDataSet,
  { providers, fetch, now }: SingleProvider,
): Promise<ProviderChecks> {
  const calls: ObservedCalls = { host: '', skew: 0 }
  const events: RatesEvent[] = []
  const work: Promise<unknown>[] = []
  const handler = createRatesHandler({
    providers,
    fetch: observed(fetch ?? globalThis.fetch, calls, now),
    now,
    waitUntil: (promise) => void work.push(promise),
    onEvent: (event) => void events.push(event),
  })
  try {
    // A load may take longer than a request waits for it.
    const description = await describeRates[dataSet](handler, now).catch(async () => {
      await Promise.allSettled(work)
      return describeRates[dataSet](handler, now).catch(() => undefined)
    })
    return {
      provider: toCheckResult({ dataSet, events, calls, description }),
      clock: checkClock(calls),
    }
  } finally {
    handler.close()
  }
}

const describeRates: Record<
  CheckedDataSet,
  (handler: RatesHandler, now: () => number) => Promise<string>
> = {
  async latest({ rates }, now) {
    const { updatedAt, rates: table } = await rates.latest()
    const age = toAge(now() - updatedAt)
    return `${Object.keys(table).length} currencies, published ${toMinute(updatedAt)}, ${age}`
  },
  async history({ rates }) {
    const { points } = await rates.history({ from: 'EUR', to: 'USD' })
    return `reference rates up to ${points.at(-1)?.d}`
  },
}

function toCheckResult({
  dataSet,
  events,
  calls,
  description,
}: {
  dataSet: CheckedDataSet
  events: readonly RatesEvent[]
  calls: ObservedCalls
  /** `undefined` without data. */
  description: string | undefined
}): CheckResult {
  const request = events.find((event) => event.type === 'upstream_request')
  const subject = [`${dataSet} rates`, request?.provider, calls.host].filter(Boolean).join(', ')
  if (description !== undefined) return { subject, ok: true, found: description, advice: null }
  const failed = events.find((event) => event.type === 'upstream_failed')
  if (failed) {
    const advice = adviceFor(failed.reason, calls.host)
    return { subject, ok: false, found: failed.reason, advice }
  }
  const rejected = events.find((event) => event.type === 'rates_rejected')
  if (rejected) {
    const found = `response rejected: ${rejected.reason}`
    return { subject, ok: false, found, advice: AFTER_REJECTION }
  }
  const found = 'no response'
  return { subject, ok: false, found, advice: adviceFor(found, calls.host) }
}

function observed(call: typeof fetch, calls: ObservedCalls, now: () => number): typeof fetch {
  return async (input, init) => {
    calls.host = new URL(input instanceof Request ? input.url : input).host
    const response = await call(input, init)
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) calls.skew = date - now()
    return response
  }
}

function checkClock({ host, skew }: ObservedCalls): CheckResult[] {
  if (Math.abs(skew) <= MAX_CLOCK_SKEW_MS) return []
  const found = `${Math.round(Math.abs(skew) / 60_000)} minutes ${skew > 0 ? 'behind' : 'ahead of'} ${host}`
  return [{ subject: 'clock', ok: false, found, advice: 'set the clock of this machine' }]
}
