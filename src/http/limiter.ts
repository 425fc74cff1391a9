import type { Runtime } from '../async.ts'
import { RatesError } from '../errors.ts'
import type { RequestContext } from './response.ts'

/** Larger bodies are expensive to compute (on a miss of the response cache) and to encode. */
export const LARGE_BODY_BYTES = 16_384

/** Two, so that one body can be computed while the previous one is encoded. */
const MAX_CONCURRENT = 2

// Expensive work per turn of the event loop; every job counts as at least 0.1 ms.
const MAX_WORK_MS = 2
const MIN_JOB_MS = 0.1

/**
 * After expensive work, the event loop gets the same time for other work, up to this number of turns. Turns are short when
 * nothing else is pending; Node accepts one connection per turn.
 */
const TURNS_PER_MS = 3
export const MAX_EVENT_LOOP_TURNS = 64

/** Some hosts end the timers of a request with its response: a turn that takes longer is lost. */
const TURN_TIMEOUT_MS = 1_000

/** A waiting request takes a few kB, including its connection. */
const MAX_WAITING = 1_000

// A request that has waited for data gets less, so that 5 s are enough for both waits.
const MAX_WAIT_MS = 3_000
const MAX_WAIT_AFTER_LOAD_MS = 500

/** Before large bodies are refused. Jobs in progress come on top: a body has at most some 20 MB. */
const MAX_UNSENT_BYTES = 256 * 1_048_576

/** A refusal takes the time of a response, and its client may retry immediately. */
const MAX_REFUSED_PER_TURN = 16

/** Random `Retry-After` values up to this one spread the retries. */
const MAX_RETRY_AFTER_SECONDS = 5

/** Computes a result; returns a promise for work outside the event loop. */
type Compute<Result> = () => Result | Promise<Result>

export interface Job<Result> {
  join(signal: AbortSignal | undefined): Promise<Result>
}

interface WorkOptions<Result> {
  /** Waiting jobs by key; requests with the same key share one job. */
  jobs: Map<string, Job<Result>>
  key: string
  hasWaited: boolean
}

export interface Limiter {
  /**
   * Returns the result of `compute`, which runs immediately if no other expensive work is running. Otherwise it waits in a
   * queue, which starts one job at a time. A job leaves the queue when all its requests are aborted.
   *
   * @throws {RatesError} `overloaded` if the queue is full, after 3 s in the queue, if the request is aborted, or if 256 MiB of
   * other responses wait for their clients to read
   */
  run<Result>(
    compute: Compute<Result>,
    request: RequestContext,
    options?: Partial<WorkOptions<Result>>,
  ): Result | Promise<Result>
}

export function createLimiter(runtime: Runtime, onRefused: (queued: number) => void): Limiter {
  const queue = createQueue(runtime)
  const throttle = createThrottle(runtime, startQueued)
  let running = 0

  function canStart(): boolean {
    return running < MAX_CONCURRENT && throttle.isReady()
  }

  function startQueued(): void {
    for (let job = queue.first(); job && canStart(); job = queue.first()) job.start()
  }

  function start<Result>(compute: Compute<Result>, request: RequestContext) {
    // Here, because a job may have waited in the queue.
    if (hasMuchUnsent(request)) throw refusal()
    const result = throttle.run(compute)
    if (!(result instanceof Promise)) return result
    running += 1
    return result.finally(() => {
      running -= 1
      startQueued()
    })
  }

  function refusal(): RatesError {
    onRefused(queue.size())
    return overloaded(runtime)
  }

  return {
    run(compute, request, { jobs, key = '', hasWaited = false } = {}) {
      const { signal } = request
      if (signal?.aborted) throw overloaded(runtime)
      if (isScheduledByPlatform()) return compute()
      const joined = jobs?.get(key)
      if (joined) return joined.join(signal)
      if (queue.size() === 0 && canStart()) return start(compute, request)
      if (queue.size() >= MAX_WAITING) throw refusal()
      const timeout = hasWaited ? MAX_WAIT_AFTER_LOAD_MS : MAX_WAIT_MS
      const job = enqueue(queue, {
        expiresAt: runtime.monotonic() + timeout,
        compute: () => start(compute, request),
        refusal,
        abandoned: () => overloaded(runtime),
        onEnd: () => jobs?.delete(key),
      })
      jobs?.set(key, job)
      const result = job.join(signal)
      // A lost turn can leave the throttle ready while the queue is not empty.
      startQueued()
      return result
    },
  }
}

function hasMuchUnsent(request: RequestContext): boolean {
  return (request.unsentBytes?.() ?? 0) > MAX_UNSENT_BYTES
}

function createThrottle(runtime: Runtime, onReady: () => void) {
  let unpaidMs = 0
  let yieldUntil = -Infinity
  let turnRequestedAt = -Infinity

  async function yieldTurns(): Promise<void> {
    let turns = 0
    do {
      turnRequestedAt = runtime.monotonic()
      await runtime.yieldToEventLoop()
      turns += 1
    } while (
      runtime.monotonic() < yieldUntil &&
      turns < Math.min(MAX_EVENT_LOOP_TURNS, unpaidMs * TURNS_PER_MS)
    )
    unpaidMs = 0
    turnRequestedAt = -Infinity
    onReady()
  }

  function isTurnPending(now: number): boolean {
    return now - turnRequestedAt <= TURN_TIMEOUT_MS
  }

  return {
    isReady: () => unpaidMs < MAX_WORK_MS || !isTurnPending(runtime.monotonic()),
    run<Result>(compute: Compute<Result>): Result | Promise<Result> {
      const startedAt = runtime.monotonic()
      try {
        return compute()
      } finally {
        const now = runtime.monotonic()
        unpaidMs += Math.max(MIN_JOB_MS, now - startedAt)
        yieldUntil = now + unpaidMs
        if (!isTurnPending(now)) void yieldTurns()
      }
    },
  }
}

interface QueuedJob {
  /** Time of the monotonic clock, in ms. */
  expiresAt: number
  start(): void
  refuse(): void
}

interface JobOptions<Result> {
  expiresAt: number
  compute: Compute<Result>
  refusal(): RatesError
  abandoned(): RatesError
  onEnd(): void
}

function enqueue<Result>(
  queue: ReturnType<typeof createQueue>,
  { expiresAt, compute, refusal, abandoned, onEnd }: JobOptions<Result>,
): Job<Result> {
  let requests = 0
  let settle: (result: Promise<Result>) => void
  const result = new Promise<Result>((resolve) => (settle = resolve))

  function leave(make: Compute<Result>): void {
    queue.remove(queued)
    onEnd()
    settle(new Promise((resolve) => resolve(make())))
  }

  const queued: QueuedJob = {
    expiresAt,
    start: () => leave(compute),
    refuse: () => leave(() => Promise.reject(refusal())),
  }
  queue.add(queued)
  return {
    join(signal) {
      requests += 1
      const onAbort = (): void => {
        requests -= 1
        if (requests === 0 && queue.has(queued)) leave(() => Promise.reject(abandoned()))
      }
      signal?.addEventListener('abort', onAbort)
      return result.finally(() => signal?.removeEventListener('abort', onAbort))
    },
  }
}

function createQueue(runtime: Runtime) {
  const jobs = new Set<QueuedJob>()
  let timer: { at: number; stop: () => void } | undefined

  function stopTimer(): void {
    timer?.stop()
    timer = undefined
  }

  function setTimer(at: number): void {
    stopTimer()
    const delay = Math.max(0, at - runtime.monotonic())
    timer = { at, stop: runtime.startTimer(expire, delay) }
  }

  function expire(): void {
    // Keeps added and removed jobs from setting another timer meanwhile.
    timer = { at: -Infinity, stop: () => {} }
    const expired = [...jobs].filter(({ expiresAt }) => expiresAt <= runtime.monotonic())
    for (const job of expired.splice(0, MAX_REFUSED_PER_TURN)) job.refuse()
    if (expired.length > 0) void runtime.yieldToEventLoop().then(expire)
    else if (jobs.size > 0) setTimer(Math.min(...Array.from(jobs, ({ expiresAt }) => expiresAt)))
    else timer = undefined
  }

  return {
    first(): QueuedJob | undefined {
      const [job] = jobs
      return job
    },
    size: () => jobs.size,
    has: (job: QueuedJob) => jobs.has(job),
    add(job: QueuedJob) {
      jobs.add(job)
      if (job.expiresAt < (timer?.at ?? Infinity)) setTimer(job.expiresAt)
    },
    remove(job: QueuedJob) {
      jobs.delete(job)
      if (jobs.size === 0) stopTimer()
    },
  }
}

export function overloaded({ random }: Runtime): RatesError {
  return new RatesError('overloaded', 'The server is overloaded. Please retry shortly.', {
    retryAfter: 1 + Math.floor(random() * MAX_RETRY_AFTER_SECONDS),
  })
}

/** On Cloudflare Workers, a timer ends with the request that started it. */
function isScheduledByPlatform(): boolean {
  return globalThis.navigator?.userAgent === 'Cloudflare-Workers'
}
