import { sleep, systemRuntime, withTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import type { Validated } from '../rates/validate.ts'
import type { LatestTable, ProviderContext } from '../upstream/provider.ts'
import { show } from './contract.ts'

/** Below the 5 s of test runners, whose timeout names no call. */
const CALL_TIMEOUT_MS = 4_000

export interface Subject<Data = unknown> {
  name: string
  attribution: unknown
  call(context: ProviderContext): Promise<Data>
  /** Validates data as the handler does; throws if the handler would reject it. */
  validate(data: unknown, now: number): Validated<unknown>
}

interface CallOptions<Data = unknown> {
  behaviour?: Behaviour | undefined
  signal?: AbortSignal | undefined
  previous?: LatestTable | undefined
  method?: Subject<Data>['call'] | undefined
}

export interface Call<Data = unknown> {
  context: ProviderContext
  requests(): number
  /** Resolves when the call has settled; rejects after `limit` ms (default 4,000). */
  outcome(limit?: number): Promise<Outcome<Data>>
}

type Outcome<Data> = { data: Data } | { thrown: unknown }

/** Calls of one method and expectations on them, which reject with an error that states what was expected. */
export interface Trial<Data = unknown> {
  subject: Subject<Data>
  /** Time of all calls, in ms since the Unix epoch. */
  now: number
  call(options?: CallOptions<Data>): Call<Data>
  data(options?: CallOptions<Data>): Promise<Data>
  /** Expects that `call` rejects, or that the handler rejects its data. */
  expectFailure(call: Call, limit?: number): Promise<unknown>
  wait(duration: number): Promise<void>
  end(): void
}

export function openTrial<Data>(
  subject: Subject<Data>,
  clock: (() => number) | undefined,
  upstream: UpstreamFetch = () => Promise.reject(new Error('the contract has no fetch')),
): Trial<Data> {
  const runtime = systemRuntime(clock ?? Date.now)
  const now = runtime.now()
  const over = new AbortController()
  const { name } = subject

  const trial: Trial<Data> = {
    subject,
    now,
    call({ behaviour = HEALTHY, signal = over.signal, previous, method = subject.call } = {}) {
      const network = createNetwork({ runtime, upstream, behaviour, over: over.signal })
      const context: ProviderContext = {
        fetch: network.fetch,
        signal,
        now: () => now,
        ...(previous && { previous }),
      }
      const settled = settle(() => method(context))
      return {
        context,
        requests: network.requests,
        outcome: (limit = CALL_TIMEOUT_MS) =>
          withTimeout(runtime, limit, settled).catch((error: unknown) => {
            throw new Error(`expected ${name} to settle within ${limit} ms`, { cause: error })
          }),
      }
    },
    async data(options) {
      const outcome = await trial.call(options).outcome()
      if ('data' in outcome) return outcome.data
      const message = `expected ${name} to resolve, got error: ${messageOf(outcome.thrown)}`
      throw new Error(message, { cause: outcome.thrown })
    },
    async expectFailure(call, limit) {
      const outcome = await call.outcome(limit)
      if ('data' in outcome) return expectRejected(trial, outcome.data)
      requireError(name, outcome.thrown)
      return outcome.thrown
    },
    wait: (duration) => sleep(runtime, duration),
    end: () => over.abort(new Error('the trial is over')),
  }
  return trial
}

async function settle<Data>(call: () => Promise<Data>): Promise<Outcome<Data>> {
  try {
    return { data: await call() }
  } catch (thrown) {
    return { thrown }
  }
}

function expectRejected({ subject, now }: Trial, data: unknown): void {
  try {
    subject.validate(data, now)
  } catch {
    return
  }
  throw new Error(`expected ${subject.name} to reject, got ${show(JSON.stringify(data))}`)
}

/** Requires an `Error`, because events need its message. */
export function requireError(name: string, thrown: unknown): void {
  if (thrown instanceof Error) return
  throw new Error(`expected ${name} to reject with an Error, got ${show(thrown)}`)
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : show(thrown)
}

/** Responds to requests of a provider like its healthy upstream, including requests for ranges of days. */
export type UpstreamFetch = (request: Request) => Response | Promise<Response>

export interface Exchange {
  /** Aborts with the request, and at the end of the trial. */
  signal: AbortSignal
  goodResponse(): Promise<Response>
  wait(duration: number): Promise<void>
}

export type Behaviour = (exchange: Exchange) => Response | Promise<Response>

const HEALTHY: Behaviour = ({ goodResponse }) => goodResponse()

interface Network {
  fetch: typeof fetch
  requests(): number
}

interface NetworkOptions {
  runtime: Runtime
  upstream: UpstreamFetch
  behaviour: Behaviour
  /** Aborts at the end of the trial, to stop everything that still runs. */
  over: AbortSignal
}

const REQUEST_TIMEOUT_MS = 60_000

function createNetwork({ runtime, upstream, behaviour, over }: NetworkOptions): Network {
  // Keeps references until the end of the trial: Node loses the abort of a garbage-collected request.
  const requests: Request[] = []
  const wait = (duration: number): Promise<void> => sleep(runtime, duration)
  return {
    requests: () => requests.length,
    async fetch(input, init) {
      // Stops providers that retry endlessly.
      if (over.aborted) return new Promise(() => {})
      const request = new Request(input, init)
      requests.push(request)
      const signal = AbortSignal.any([request.signal, over])
      // Lets timers fire while a provider retries without a delay.
      await wait(0)
      signal.throwIfAborted()
      const goodResponse = async (): Promise<Response> => upstream(request)
      const response = Promise.resolve(behaviour({ signal, goodResponse, wait }))
      return withTimeout(runtime, REQUEST_TIMEOUT_MS, response, signal)
    },
  }
}
