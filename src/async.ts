/** @internal A time, in whole ms since the Unix epoch. */
export type Instant = number

/** @internal A length of time, in whole ms. */
export type Duration = number

/** Clocks, timers and randomness, which tests replace. */
export interface Runtime {
  /** Returns the time in ms since the Unix epoch; it may jump. */
  now(): number
  /** Returns the time in ms since an arbitrary moment; it never jumps. */
  monotonic(): number
  /** Returns a number from 0 to 1, without 1. */
  random(): number
  /** Calls `callback` once after `delay` ms; returns a function that cancels the timer. */
  startTimer(callback: () => void, delay: number): () => void
  /** Resolves after one turn of the event loop; divides long work into slices. */
  yieldToEventLoop(): Promise<void>
}

// Read at load time, so that fake timers of a test do not stop work in slices. Marked as pure, so that bundles without such work drop them.
const startTimeout: typeof setTimeout = /* @__PURE__ */ Reflect.get(globalThis, 'setTimeout')
const startImmediate: unknown = /* @__PURE__ */ Reflect.get(globalThis, 'setImmediate')

export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof startImmediate === 'function') startImmediate(resolve)
    // Workers without Node compatibility have no setImmediate.
    else startTimeout(resolve, 0)
  })
}

export function systemRuntime(now: () => number): Runtime {
  return {
    now,
    monotonic: performance.now.bind(performance),
    random: Math.random,
    startTimer,
    yieldToEventLoop,
  }
}

/** Calls `callback` once after `delay` ms; returns a function that cancels the timer. */
export function startTimer(callback: () => void, delay: number): () => void {
  const timer = setTimeout(callback, delay)
  return () => clearTimeout(timer)
}

export interface Listeners<Item> {
  /** Adds a listener; returns a function that removes it. */
  add(listener: (item: Item) => unknown): () => void
  /** Calls all listeners; ignores exceptions and rejections. */
  call(item: Item): void
  hasAny(): boolean
  /** Returns `call` as a function that does nothing while there are no listeners. */
  whileAny(call: (item: Item) => void): (item: Item) => void
}

export function createListeners<Item>(): Listeners<Item> {
  // Each entry is an object, so that a listener can be added twice.
  const listeners = new Set<{ listener: (item: Item) => unknown }>()
  return {
    add(listener) {
      const entry = { listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    call(item) {
      for (const { listener } of listeners) callSafely(() => listener(item))
    },
    hasAny: () => listeners.size > 0,
    whileAny: (call) => (item) => {
      if (listeners.size > 0) call(item)
    },
  }
}

/** Calls a user hook; ignores exceptions and rejections. */
export function callSafely(hook: () => unknown): void {
  try {
    Promise.resolve(hook()).catch(() => undefined)
  } catch {
    // Ignored, like a rejection.
  }
}

/** Resolves after `duration` ms; rejects with the reason of `signal` when it aborts. */
export function sleep(
  { startTimer }: Pick<Runtime, 'startTimer'>,
  duration: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      stopTimer()
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    const stopTimer = startTimer(end, duration)
    signal?.addEventListener('abort', end)
  })
}

export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/**
 * Settles like `promise`, but rejects after `timeout` ms (`TimeoutError`) or when `signal` aborts (with its reason). The
 * work itself continues. Removes its timer and listener in every case.
 */
export function withTimeout<T>(
  runtime: Runtime,
  timeout: number,
  promise: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const giveUp = (): void => {
      end()
      reject(new TimeoutError(`timed out after ${timeout} ms`))
    }
    let stopTimer = runtime.startTimer(() => {
      // After the event loop was blocked, timers fire before received responses are read: wait one more turn.
      stopTimer = runtime.startTimer(giveUp, 0)
    }, timeout)
    const onAbort = (): void => {
      end()
      reject(abortReason(signal))
    }
    const end = (): void => {
      stopTimer()
      signal?.removeEventListener('abort', onAbort)
    }
    signal?.addEventListener('abort', onAbort)
    promise.finally(end).then(resolve, reject)
    if (signal?.aborted) onAbort()
  })
}

/** Rejects after `timeout` ms or when `parent` aborts, even if `work` ignores its signal. */
export async function runWithTimeout<T>(
  runtime: Runtime,
  timeout: number,
  work: (signal: AbortSignal) => Promise<T>,
  parent?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  try {
    return await withTimeout(runtime, timeout, Promise.resolve(work(controller.signal)), parent)
  } catch (error) {
    controller.abort(error)
    throw error
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}

/** Returns a function that calls `load` once, for all its callers; after a rejection, the next call loads again. */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined
  const retryLater = (error: unknown): never => {
    loading = undefined
    throw error
  }
  return () => (loading ??= load().catch(retryLater))
}

export type WaitUntil = (work: Promise<unknown>) => void

/** Lets `work` continue after the response, and ignores its rejection. */
export function runInBackground(work: Promise<unknown>, waitUntil: WaitUntil | undefined): void {
  // The work reports its own failures; here they must only not become unhandled rejections.
  const settled = work.then(
    () => undefined,
    () => undefined,
  )
  // Where the hook throws, the work runs as long as the process does.
  callSafely(() => waitUntil?.(settled))
}

export interface HedgeOptions {
  runtime: Runtime
  /** How long to wait for a call before the next one starts in parallel, in ms. */
  delay: number
  signal: AbortSignal
}

/**
 * The next target is called when the previous call fails, or in parallel after `delay` (RFC 8305). Rejects when all fail.
 */
export async function hedge<Target, Data>(
  [first, ...others]: readonly Target[],
  call: (target: Target) => Promise<Data>,
  options: HedgeOptions,
): Promise<Data> {
  if (first === undefined) throw new Error('no provider may be called now')
  const response = call(first)
  if (others.length === 0) return response
  const { runtime, delay, signal } = options
  const next = withTimeout(runtime, delay, response, signal).catch(() => {
    signal.throwIfAborted()
    return hedge(others, call, options)
  })
  return Promise.any([response, next])
}

/** Work that yields between slices, so that other tasks can run. */
export type Slices<Result> = Generator<undefined, Result, undefined>

export type Pause = () => Promise<void>

export function runAtOnce<Result>(work: Slices<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Runs `work` with a pause after each slice; rejects with the reason of `signal` when it aborts. */
export async function runInSlices<Result>(
  work: Slices<Result>,
  pause: Pause,
  signal?: AbortSignal,
): Promise<Result> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await pause()
    signal?.throwIfAborted()
  }
}

/** Up to 1 MiB (more than five years of a market) is parsed without a pause; longer text pauses after each slice of a few ms. */
const CHARACTERS_AT_ONCE = 1_048_576
const CHARACTERS_PER_SLICE = 262_144

/** Format of JSON that is long because of one array or object, whose items are objects. */
export interface LongJson {
  /** Text before the items, including their opening bracket. */
  opening: string
  /** Text that closes that bracket and all outer ones. */
  closing: string
  itemsOf(document: unknown): unknown
  /** Returns `document` with its items replaced by those of all `parts`, in order. */
  withItems(document: unknown, parts: readonly unknown[]): unknown
}

/**
 * Parses `text` in slices, with the same result as `JSON.parse`. Text in another format is parsed without pauses.
 *
 * @throws {SyntaxError} if it is not JSON
 */
export function* parseLongJson(text: string, form: LongJson): Slices<unknown> {
  const at = text.length > CHARACTERS_AT_ONCE ? text.indexOf(form.opening) : -1
  if (at === -1) return JSON.parse(text)
  try {
    return yield* parseParts(text, at + form.opening.length, form)
  } catch {
    // Throws the error of the whole text.
    return JSON.parse(text)
  }
}

/**
 * The items begin at `start`. A part may end anywhere: if it parses between the brackets, it has only whole items, because
 * an incomplete item or string does not parse.
 */
function* parseParts(text: string, start: number, form: LongJson): Slices<unknown> {
  const { opening, closing } = form
  const [bracket, closer] = [opening.slice(-1), closing.slice(0, 1)]
  const head = text.slice(0, start)
  const empty = form.itemsOf(JSON.parse(`${head}${closing}`))
  if (JSON.stringify(empty) !== `${bracket}${closer}`) throw new Error('unexpected format')
  const parts: unknown[] = []
  let at = start
  for (;;) {
    const end = text.indexOf('},', at + CHARACTERS_PER_SLICE)
    if (end === -1) break
    parts.push(JSON.parse(`${bracket}${text.slice(at, end + 1)}${closer}`))
    at = end + 2
    yield
  }
  const document: unknown = JSON.parse(`${head}${text.slice(at)}`)
  yield
  return form.withItems(document, [...parts, form.itemsOf(document)])
}
