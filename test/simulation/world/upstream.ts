import { SECRET, answer, later, toPublication } from '../../faults/fault.ts'
import type { DataSet, Exchange, Fault } from '../../faults/fault.ts'
import { HOSTS } from '../../fixtures/contract.ts'
import { SECOND } from '../../virtual-runtime.ts'
import type { Call } from '../invariants/tables.ts'
import type { UpstreamWatch } from '../invariants/upstream-watch.ts'
import type { Banks } from './banks.ts'
import type { Scene } from './fleet.ts'
import type { Process } from './machine.ts'
import type { Nemesis } from './nemesis.ts'
import type { Publication, Truth } from './truth.ts'

export type Upstream = ReturnType<typeof createUpstream>

interface Fetching {
  process: Process
  dataSet: DataSet
  url: URL
  init: RequestInit
  signal: AbortSignal
  call: Call
}

export function createUpstream(
  scene: Scene & Truth,
  nemesis: Nemesis,
  watch: UpstreamWatch,
  banks: Banks,
) {
  const { loop, trace, violate } = scene
  const calls = { latest: 0, history: 0 }

  return {
    calls: () => calls,
    fetchFor:
      (process: Process): typeof fetch =>
      async (input, init = {}) => {
        const url = new URL(input instanceof Request ? input.url : input)
        const signal = init.signal ?? new AbortController().signal
        const bank = banks.find(url.host)
        if (bank) return bank.respond(process, url, signal)
        const dataSet = url.pathname.includes('/v6/') ? 'latest' : 'history'
        const isKnown = url.protocol === 'https:' && HOSTS[dataSet].includes(url.host)
        if (!isKnown || !url.pathname.startsWith(`/${SECRET}/`)) {
          violate('I11', `${url.href} is fetched`)
        }
        // The second version, which is requested after each failure of the first, is always down, so that only the first counts.
        if (url.pathname.includes('/v2/')) {
          return new Response('', { status: 503, headers: { 'retry-after': '21600' } })
        }
        const call = watch.callOf(process, dataSet, signal)
        if (!call || signal.aborted) throw signal.reason
        calls[dataSet] += 1
        if (!call.isFaultChosen) {
          call.isFaultChosen = true
          call.fault = nemesis.upstreamFault(dataSet)
          call.verdict = call.fault ? verdictOf(call.fault) : 'take'
        }
        trace.record(loop.now(), process.host, `fetches ${dataSet}`, call.fault?.name ?? '')
        return respond(scene, { process, dataSet, url, init, signal, call })
      },
  }
}

/** Returns the outcome: rejected, rejected where a usable table is there to compare with, or accepted at least in part. */
function verdictOf({ verdict, inState = {} }: Fault): Call['verdict'] {
  if (verdict === 'accepted') return inState.warm && !inState.expired ? 'refuse when warm' : 'take'
  return Object.values(inState).includes('accepted') ? 'take' : 'refuse'
}

async function respond(scene: Scene & Truth, fetching: Fetching): Promise<Response> {
  const { loop, random, feed, startsAt } = scene
  const { process, dataSet, signal, call } = fetching
  const { fault } = call
  const isWarm = process.clock.oldest() < process.knowledge.latest.usableUntil
  const inject = fault?.needsPrevious && !isWarm ? undefined : fault?.inject
  const after: Exchange['after'] = (delay, callback) => void loop.after(delay, callback, process)
  if (!inject || fault?.takes === undefined) {
    await later({ after, signal }, random.between(20, 400))
  }
  const now = startsAt + loop.now()
  const good = goodText(scene, fetching, feed.at(now))
  const older = goodText(scene, fetching, feed.at(now, random.whole(1, 3)))
  const healthy = (): Response => {
    call.verdict = 'take'
    return answer(good)
  }
  const exchange = { ...fetching, now, good, first: older, older, after, healthy }
  const response = inject ? await inject(exchange) : healthy()
  if (dataSet !== 'latest' || call.verdict === 'refuse' || !response.ok) return response
  // A body that is read here must be replaced before the process reads it.
  const text = await response.text()
  call.sent = toPublication(JSON.parse(text))
  signal.throwIfAborted()
  return new Response(text, response)
}

function goodText(
  { referenceRates, loop, startsAt }: Scene & Truth,
  { dataSet, url }: Fetching,
  { updatedAt, nextUpdateAt, rates }: Publication,
): string {
  if (dataSet === 'history') {
    const [, start = '', end = ''] = /\/v1\/(.{10})\.\.(.{10})$/.exec(url.pathname) ?? []
    const rows = referenceRates.rows(start, end, startsAt + loop.now())
    return `{"amount":1.0,"base":"EUR","start_date":"${start}","end_date":"${end}","rates":{${rows.join(',')}}}`
  }
  const [time_last_update_unix, time_next_update_unix] = [updatedAt / SECOND, nextUpdateAt / SECOND]
  const body = { result: 'success', time_last_update_unix, time_next_update_unix, time_eol_unix: 0 }
  return JSON.stringify({ ...body, base_code: 'USD', rates })
}
