import type { Runtime } from '../async.ts'
import { RatesError } from '../errors.ts'
import type { RequestContext } from './response.ts'

/** Larger bodies are expensive to compute (on a miss of the response cache) and to encode. */
export const LARGE_BODY_BYTES = 16_384

/** Jobs in slices that run at the same time. */
const MAX_CONCURRENT = 2

/** Longest time for which a job counts as running: that of an app's route may never end. */
const MAX_RUNNING_MS = 30_000

/** Some hosts end the timers of a request with its response: a turn that takes longer is lost. */
const TURN_TIMEOUT_MS = 1_000

/** A waiting request takes a few kB, including its connection. */
const MAX_WAITING = 1_000

// A request that has waited for data gets less, so that 5 s are enough for both waits.
const MAX_WAIT_MS = 3_000
const MAX_WAIT_AFTER_LOAD_MS = 500

/** Before large bodies are refused. Jobs in progress come on top: a body has at most some 20 MB. */
const MAX_UNSENT_BYTES = 256 * 1_048_576

/** Random `Retry-After` values up to this one spread the retries. */
const MAX_RETRY_AFTER_SECONDS = 5

/** Computes a result; returns a promise for work in slices or outside the event loop. */
type Compute<Result> = () => Result | Promise<Result>

/** Joins a waiting job; it leaves the queue when all its requests are aborted. */
export type Job<Result> = (signal: AbortSignal | undefined) => Promise<Result>

interface WorkOptions<Result> {
  /** Waiting jobs by key; requests with the same key share one job. */
  jobs: Map<string, Job<Result>>
  key: string
  hasWaited: boolean
}

export interface Limiter {
  /**
   * Returns the result of `compute`, which runs immediately unless two other jobs are running, or one began in this turn of the
   * event loop. Otherwise it waits in a queue.
   *
   * @throws {RatesError} `overloaded` if the queue is full, after 3 s in the queue, if the request is aborted, or if 256 MiB of
   * other responses wait for their clients to read
   */
  run<Result>(
    compute: Compute<Result>,
    request: RequestContext,
    options?: Partial<WorkOptions<Result>>,
  ): Result | Promise<Result>
  /** @throws {RatesError} `overloaded` if 256 MiB of other responses wait for their clients to read */
  requireRoom(request: RequestContext): void
}

/** Functions that start the waiting jobs, in order. */
type Queue = Set<() => void>

export function createLimiter(runtime: Runtime, onRefused: (queued: number) => void): Limiter {
  const queue: Queue = new Set()
  const turns = createTurns(runtime, startNext)
  let running = 0

  function canStart(): boolean {
    return running < MAX_CONCURRENT && !turns.isPending()
  }

  function startNext(): void {
    const [next] = queue
    if (next && canStart()) next()
  }

  function refusal(): RatesError {
    onRefused(queue.size)
    return overloaded(runtime)
  }

  function start<Result>(compute: Compute<Result>, request: RequestContext) {
    void turns.wait()
    // Here, because a job may have waited in the queue.
    requireRoom(request, refusal)
    const result = compute()
    if (!(result instanceof Promise)) return result
    running += 1
    return whileRunning(result, runtime, () => {
      running -= 1
      startNext()
    })
  }

  return {
    requireRoom: (request) => requireRoom(request, refusal),
    run(compute, request, { jobs, key = '', hasWaited = false } = {}) {
      const { signal } = request
      if (signal?.aborted) throw overloaded(runtime)
      if (isScheduledByPlatform()) return compute()
      const waiting = jobs?.get(key)
      if (waiting) return waiting(signal)
      if (queue.size === 0 && canStart()) return start(compute, request)
      if (queue.size >= MAX_WAITING) throw refusal()
      const job = enqueue(queue, runtime, {
        compute: () => start(compute, request),
        timeout: hasWaited ? MAX_WAIT_AFTER_LOAD_MS : MAX_WAIT_MS,
        refusal,
        onLeave: () => jobs?.delete(key),
      })
      jobs?.set(key, job)
      const result = job(signal)
      // After a lost turn, nothing else would start the queue.
      startNext()
      return result
    },
  }
}

function requireRoom(request: RequestContext, refusal: () => RatesError): void {
  if ((request.unsentBytes?.() ?? 0) > MAX_UNSENT_BYTES) throw refusal()
}

/** Calls `onEnd` once: when `result` settles, or after `MAX_RUNNING_MS`. */
function whileRunning<Result>(
  result: Promise<Result>,
  runtime: Runtime,
  onEnd: () => void,
): Promise<Result> {
  let isRunning = true
  const end = (): void => {
    if (isRunning) onEnd()
    isRunning = false
  }
  const stopTimer = runtime.startTimer(end, MAX_RUNNING_MS)
  return result.finally(() => {
    stopTimer()
    end()
  })
}

function createTurns(runtime: Runtime, onTurn: () => void) {
  let requestedAt = -Infinity
  return {
    isPending: () => runtime.monotonic() - requestedAt <= TURN_TIMEOUT_MS,
    async wait(): Promise<void> {
      requestedAt = runtime.monotonic()
      await runtime.yieldToEventLoop()
      requestedAt = -Infinity
      onTurn()
    },
  }
}

interface Waiting<Result> {
  compute: Compute<Result>
  timeout: number
  refusal(): RatesError
  onLeave(): void
}

function enqueue<Result>(
  queue: Queue,
  runtime: Runtime,
  { compute, timeout, refusal, onLeave }: Waiting<Result>,
): Job<Result> {
  let requests = 0
  let settle: (result: Promise<Result>) => void
  const promise = new Promise<Result>((resolve) => (settle = resolve))
  const leave = (make: Compute<Result>): void => {
    queue.delete(start)
    stopTimer()
    onLeave()
    settle(new Promise((resolve) => resolve(make())))
  }
  const start = (): void => leave(compute)
  const stopTimer = runtime.startTimer(() => leave(() => Promise.reject(refusal())), timeout)
  queue.add(start)
  return (signal) => {
    requests += 1
    const onAbort = (): void => {
      requests -= 1
      if (requests === 0 && queue.has(start)) leave(() => Promise.reject(overloaded(runtime)))
    }
    signal?.addEventListener('abort', onAbort)
    return promise.finally(() => signal?.removeEventListener('abort', onAbort))
  }
}

export function overloaded({ random }: Runtime): RatesError {
  return new RatesError('overloaded', 'The server is overloaded. Please retry shortly.', {
    retryAfter: 1 + Math.floor(random() * MAX_RETRY_AFTER_SECONDS),
  })
}

/** On Cloudflare Workers, a timer ends with the request that started it. */
export function isScheduledByPlatform(): boolean {
  return globalThis.navigator?.userAgent === 'Cloudflare-Workers'
}
