import { createRatesHandler } from '../../index.ts'
import type { DataSet, RatesEvent, RatesHandler, RatesHandlerOptions } from '../../index.ts'
import type { Upstreams } from '../upstreams.ts'
import { toAge, toMinute } from '../terminal/age.ts'
import { AFTER_REFUSAL, adviceFor } from './advice.ts'
import type { Finding } from './finding.ts'

/** One of the providers alone. */
type Alone = Pick<RatesHandlerOptions, 'providers'> & Pick<Upstreams, 'fetch' | 'now'>

/** A clock that is further off than this, in ms, misjudges how old rates are. */
const MOST_SKEW = 300_000

/** What was seen of the calls to one upstream. */
interface Sight {
  /** Empty where no call was made. */
  host: string
  /** By how much the upstream's clock is ahead of this machine's, in ms; rounded by the second of `Date`. */
  skew: number
}

/** Asks every provider of both data sets anew, on its own and past every cache. */
export async function examineProviders({ providers, ...shared }: Upstreams): Promise<Finding[]> {
  const found = await Promise.all([
    ...providers.latest.map((latest) => examine('latest', { providers: { latest }, ...shared })),
    ...providers.history.map((history) =>
      examine('history', { providers: { history }, ...shared }),
    ),
  ])
  // One clock is wrong however many tell.
  const [clock] = found.flatMap(({ clock }) => clock)
  return [...found.map(({ provider }) => provider), ...(clock ? [clock] : [])]
}

/** All of history comes from the providers of its last five years. */
type ExaminedSet = Exclude<DataSet, 'archive'>

/** What was found at one provider. */
interface Examined {
  provider: Finding
  /** Nothing where the clocks agree. */
  clock: Finding[]
}

async function examine(dataSet: ExaminedSet, { providers, fetch, now }: Alone): Promise<Examined> {
  const sight: Sight = { host: '', skew: 0 }
  const events: RatesEvent[] = []
  const work: Promise<unknown>[] = []
  const handler = createRatesHandler({
    providers,
    fetch: watched(fetch ?? globalThis.fetch, sight, now),
    now,
    waitUntil: (promise) => void work.push(promise),
    onEvent: (event) => void events.push(event),
  })
  try {
    // A load that takes longer than a request waits is still a load.
    const told = await tellOf[dataSet](handler, now).catch(async () => {
      await Promise.allSettled(work)
      return tellOf[dataSet](handler, now).catch(() => undefined)
    })
    return { provider: toFinding({ dataSet, events, sight, told }), clock: clockFinding(sight) }
  } finally {
    handler.close()
  }
}

/** What a data set has, in words; rejects where there are no data. */
const tellOf: Record<ExaminedSet, (handler: RatesHandler, now: () => number) => Promise<string>> = {
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

function toFinding({
  dataSet,
  events,
  sight,
  told,
}: {
  dataSet: ExaminedSet
  events: readonly RatesEvent[]
  sight: Sight
  told: string | undefined
}): Finding {
  const [asked] = events.filter((event) => event.type === 'upstream_asked')
  const subject = [`${dataSet} rates`, asked?.provider, sight.host].filter(Boolean).join(', ')
  if (told !== undefined) return { subject, ok: true, found: told, advice: null }
  const failed = events.find((event) => event.type === 'upstream_failed')
  if (failed) {
    const advice = adviceFor(failed.reason, sight.host)
    return { subject, ok: false, found: failed.reason, advice }
  }
  const rejected = events.find((event) => event.type === 'rates_rejected')
  const found = rejected ? `its answer was refused: ${rejected.reason}` : 'it did not answer'
  return {
    subject,
    ok: false,
    found,
    advice: rejected ? AFTER_REFUSAL : adviceFor(found, sight.host),
  }
}

/** `call`, which writes down whom it calls and what time it is there. */
function watched(call: typeof fetch, sight: Sight, now: () => number): typeof fetch {
  return async (input, init) => {
    sight.host = new URL(input instanceof Request ? input.url : input).host
    const response = await call(input, init)
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) sight.skew = date - now()
    return response
  }
}

function clockFinding({ host, skew }: Sight): Finding[] {
  if (Math.abs(skew) <= MOST_SKEW) return []
  const found = `${Math.round(Math.abs(skew) / 60_000)} minutes ${skew > 0 ? 'behind' : 'ahead of'} ${host}`
  return [{ subject: 'clock', ok: false, found, advice: 'set the clock of this machine' }]
}
