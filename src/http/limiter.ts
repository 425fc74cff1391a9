import { RatesError } from '../errors.ts'
import type { Runtime } from '../runtime.ts'
import type { RequestContext } from './endpoint.ts'

/** Bodies of more bytes are expensive: to compute where the response cache lacks them, and to encode. */
export const LARGE_BODY_BYTES = 16_384

/** How much expensive work may be under way: the next body is computed while the one before is encoded. */
const MAX_CONCURRENT = 2

/** How much expensive work is done in a turn of the event loop, in ms, and what a piece counts at the least. */
const MAX_WORK_MS = 2
const MIN_PIECE_MS = 0.1

/**
 * After that, the event loop has as much time for all else as the work took, but no more than this many turns, which are short
 * where there is nothing else: Node accepts one connection in a turn.
 */
const TURNS_PER_MS = 3
export const MAX_TURNS = 64

/** After this time without another turn the host has lost it, in ms: some end the timers of a request with its response. */
const LOST_AFTER_MS = 1_000

/** How many jobs may wait; a waiting request takes some kB, with its connection. */
const MAX_WAITING = 1_000

/** How long a job waits before it is refused, in ms; less if its request has waited for data, so that 5 s are enough for both. */
const MAX_WAIT_MS = 3_000
const MAX_WAIT_AFTER_LOAD_MS = 500

/** How many jobs are refused in a turn: each takes the time of a response, and its client may be back at once. */
const MAX_REFUSED_AT_ONCE = 16

/** Refused requests are spread over this time, in seconds, so that they do not all come back at once. */
const MAX_RETRY_AFTER_SECONDS = 5

/** Computes a result; a promise is of work beside the event loop. */
type Compute<Made> = () => Made | Promise<Made>

/** Expensive work that waits for its turn. */
export interface Job<Made> {
  /** Resolves with the result for one more request. */
  join(signal: AbortSignal | undefined): Promise<Made>
}

/** What is known of expensive work. */
interface WorkOptions<Made> {
  /** Jobs that wait, by key; requests with the same key share one. */
  jobs: Map<string, Job<Made>>
  key: string
  /** Whether its request has waited for data already. */
  hasWaited: boolean
}

/** Bounds expensive work, so that it delays other requests by little and takes little memory. */
export interface Limiter {
  /**
   * Returns the result of `compute`, at once where no other expensive work is under way. Otherwise `compute` waits in a
   * queue, from which one job at a time is started; a job leaves it when all its requests are aborted.
   *
   * @throws {RatesError} `overloaded` when the queue is full, after 3 s in it, and for an aborted request
   */
  run<Made>(
    compute: Compute<Made>,
    request: RequestContext,
    options?: Partial<WorkOptions<Made>>,
  ): Made | Promise<Made>
}

/** Creates a limiter; `onRefused` is called for every refusal, with the number of jobs that wait. */
export function createLimiter(runtime: Runtime, onRefused: (queued: number) => void): Limiter {
  const queue = createQueue(runtime)
  const pause = createPause(runtime, startQueued)
  let running = 0

  function canStart(): boolean {
    return running < MAX_CONCURRENT && pause.isOver()
  }

  function startQueued(): void {
    for (let job = queue.first(); job && canStart(); job = queue.first()) job.start()
  }

  function start<Made>(compute: Compute<Made>): Made | Promise<Made> {
    const made = pause.after(compute)
    if (!(made instanceof Promise)) return made
    running += 1
    return made.finally(() => {
      running -= 1
      startQueued()
    })
  }

  function refusal(): RatesError {
    onRefused(queue.size())
    return overloaded(runtime)
  }

  return {
    run(compute, { signal }, { jobs, key = '', hasWaited = false } = {}) {
      if (signal?.aborted) throw overloaded(runtime)
      if (isScheduledByPlatform()) return compute()
      const joined = jobs?.get(key)
      if (joined) return joined.join(signal)
      if (queue.size() === 0 && canStart()) return start(compute)
      if (queue.size() >= MAX_WAITING) throw refusal()
      const timeout = hasWaited ? MAX_WAIT_AFTER_LOAD_MS : MAX_WAIT_MS
      const job = enqueue(queue, {
        expiresAt: runtime.monotonic() + timeout,
        compute: () => start(compute),
        refusal,
        abandoned: () => overloaded(runtime),
        onEnd: () => jobs?.delete(key),
      })
      jobs?.set(key, job)
      const made = job.join(signal)
      // It may start at once where a turn was lost.
      startQueued()
      return made
    },
  }
}

/** Gives the event loop time for all else after expensive work, and then calls `onOver`. */
function createPause(runtime: Runtime, onOver: () => void) {
  /** Time of expensive work after which there was no rest, in ms. */
  let worked = 0
  let until = -Infinity
  /** When the coming turn was asked for, by the monotonic clock. */
  let awaitedSince = -Infinity

  async function yieldTurns(): Promise<void> {
    let turns = 0
    do {
      awaitedSince = runtime.monotonic()
      await runtime.yieldToEventLoop()
      turns += 1
    } while (runtime.monotonic() < until && turns < Math.min(MAX_TURNS, worked * TURNS_PER_MS))
    worked = 0
    awaitedSince = -Infinity
    onOver()
  }

  function isTurnPending(now: number): boolean {
    return now - awaitedSince <= LOST_AFTER_MS
  }

  return {
    isOver: () => worked < MAX_WORK_MS || !isTurnPending(runtime.monotonic()),
    after<Made>(compute: Compute<Made>): Made | Promise<Made> {
      const startedAt = runtime.monotonic()
      try {
        return compute()
      } finally {
        const now = runtime.monotonic()
        worked += Math.max(MIN_PIECE_MS, now - startedAt)
        until = now + worked
        if (!isTurnPending(now)) void yieldTurns()
      }
    },
  }
}

/** A job in the queue. */
interface QueuedJob {
  /** By the monotonic clock, in ms. */
  expiresAt: number
  start(): void
  refuse(): void
}

/** What a job is made from. */
interface JobOptions<Made> {
  expiresAt: number
  compute: Compute<Made>
  /** Returns the error of a job that has waited for too long. */
  refusal(): RatesError
  /** Returns the error of a job whose requests are all aborted. */
  abandoned(): RatesError
  /** Called when the job leaves the queue. */
  onEnd(): void
}

/** Adds a job to `queue`. */
function enqueue<Made>(
  queue: ReturnType<typeof createQueue>,
  { expiresAt, compute, refusal, abandoned, onEnd }: JobOptions<Made>,
): Job<Made> {
  let requests = 0
  let settle: (result: Promise<Made>) => void
  const result = new Promise<Made>((resolve) => (settle = resolve))

  function leave(make: Compute<Made>): void {
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

/** Creates a queue that refuses its jobs when they expire. */
function createQueue(runtime: Runtime) {
  const jobs = new Set<QueuedJob>()
  let alarm: { at: number; stop: () => void } | undefined

  function stopAlarm(): void {
    alarm?.stop()
    alarm = undefined
  }

  function setAlarm(at: number): void {
    stopAlarm()
    const delay = Math.max(0, at - runtime.monotonic())
    alarm = { at, stop: runtime.startTimer(expire, delay) }
  }

  function expire(): void {
    // None is set meanwhile.
    alarm = { at: -Infinity, stop: () => {} }
    const expired = [...jobs].filter(({ expiresAt }) => expiresAt <= runtime.monotonic())
    for (const job of expired.splice(0, MAX_REFUSED_AT_ONCE)) job.refuse()
    if (expired.length > 0) void runtime.yieldToEventLoop().then(expire)
    else if (jobs.size > 0) setAlarm(Math.min(...Array.from(jobs, ({ expiresAt }) => expiresAt)))
    else alarm = undefined
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
      if (job.expiresAt < (alarm?.at ?? Infinity)) setAlarm(job.expiresAt)
    },
    remove(job: QueuedJob) {
      jobs.delete(job)
      if (jobs.size === 0) stopAlarm()
    },
  }
}

function overloaded({ random }: Runtime): RatesError {
  return new RatesError('overloaded', 'The server is overloaded, please retry shortly.', {
    retryAfter: 1 + Math.floor(random() * MAX_RETRY_AFTER_SECONDS),
  })
}

/** Whether this is a Worker of Cloudflare's, where a timer ends with the request that started it. */
function isScheduledByPlatform(): boolean {
  return globalThis.navigator?.userAgent === 'Cloudflare-Workers'
}
