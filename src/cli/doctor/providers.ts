import { createRatesHandler } from '../../index.ts'
import type { DataSet, RatesEvent, RatesHandler, RatesHandlerOptions } from '../../index.ts'
import type { Upstreams } from '../upstreams.ts'
import { toAge, toMinute } from '../terminal/age.ts'
import { AFTER_REJECTION, adviceFor } from './advice.ts'
import type { CheckResult } from './check-result.ts'

/** One of the providers alone. */
type SingleProvider = Pick<RatesHandlerOptions, 'providers'> & Pick<Upstreams, 'fetch' | 'now'>

/** A clock that is further off than this, in ms, misjudges how old rates are. */
const MAX_CLOCK_SKEW_MS = 300_000

/** What was seen of the calls to one upstream. */
interface ObservedCalls {
  /** Empty where no call was made. */
  host: string
  /** By how much the upstream's clock is ahead of this machine's, in ms; rounded by the second of `Date`. */
  skew: number
}

/** Asks every provider of both data sets anew, on its own and past every cache. */
export async function checkProviders({ providers, ...shared }: Upstreams): Promise<CheckResult[]> {
  const found = await Promise.all([
    ...providers.latest.map((latest) =>
      checkProvider('latest', { providers: { latest }, ...shared }),
    ),
    ...providers.history.map((history) =>
      checkProvider('history', { providers: { history }, ...shared }),
    ),
  ])
  // One clock is wrong however many tell.
  const [clock] = found.flatMap(({ clock }) => clock)
  return [...found.map(({ provider }) => provider), ...(clock ? [clock] : [])]
}

/** All of history comes from the providers of its last five years. */
type CheckedDataSet = Exclude<DataSet, 'archive'>

/** What was found at one provider. */
interface ProviderChecks {
  provider: CheckResult
  /** Nothing where the clocks agree. */
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
    // A load that takes longer than a request waits is still a load.
    const description = await describeRates[dataSet](handler, now).catch(async () => {
      await Promise.allSettled(work)
      return describeRates[dataSet](handler, now).catch(() => undefined)
    })
    return {
      provider: toCheckResult({ dataSet, events, sight: calls, told: description }),
      clock: clockCheck(calls),
    }
  } finally {
    handler.close()
  }
}

/** What a data set has, in words; rejects where there are no data. */
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
  sight: calls,
  told: description,
}: {
  dataSet: CheckedDataSet
  events: readonly RatesEvent[]
  sight: ObservedCalls
  told: string | undefined
}): CheckResult {
  const [asked] = events.filter((event) => event.type === 'upstream_request')
  const subject = [`${dataSet} rates`, asked?.provider, calls.host].filter(Boolean).join(', ')
  if (description !== undefined) return { subject, ok: true, found: description, advice: null }
  const failed = events.find((event) => event.type === 'upstream_failed')
  if (failed) {
    const advice = adviceFor(failed.reason, calls.host)
    return { subject, ok: false, found: failed.reason, advice }
  }
  const rejected = events.find((event) => event.type === 'rates_rejected')
  const found = rejected ? `its answer was refused: ${rejected.reason}` : 'it did not answer'
  return {
    subject,
    ok: false,
    found: found,
    advice: rejected ? AFTER_REJECTION : adviceFor(found, calls.host),
  }
}

/** `call`, which writes down whom it calls and what time it is there. */
function observed(call: typeof fetch, calls: ObservedCalls, now: () => number): typeof fetch {
  return async (input, init) => {
    calls.host = new URL(input instanceof Request ? input.url : input).host
    const response = await call(input, init)
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) calls.skew = date - now()
    return response
  }
}

function clockCheck({ host, skew }: ObservedCalls): CheckResult[] {
  if (Math.abs(skew) <= MAX_CLOCK_SKEW_MS) return []
  const found = `${Math.round(Math.abs(skew) / 60_000)} minutes ${skew > 0 ? 'behind' : 'ahead of'} ${host}`
  return [{ subject: 'clock', ok: false, found: found, advice: 'set the clock of this machine' }]
}
