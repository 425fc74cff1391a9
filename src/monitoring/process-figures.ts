import { startIdleTimer, systemRuntime } from '../async.ts'
import type { Family, Sample } from './open-metrics.ts'

/** The used part of Node's `process`, which Bun and Deno also have. */
interface Process {
  cpuUsage?: () => { user: number; system: number }
  memoryUsage?: () => { rss: number; heapUsed: number }
}

/** Returns CPU time, memory and start time of the process, where the runtime has them. */
export function processFamilies(): Family[] {
  const { cpu, rss, heap } = readProcess()
  const startedAt = globalThis.performance.timeOrigin
  const family = { type: 'gauge', unit: 'bytes' } as const
  return [
    {
      name: 'process_cpu_seconds',
      type: 'counter',
      unit: 'seconds',
      help: 'CPU time of the process, user and system.',
      samples: positive(cpu),
    },
    {
      ...family,
      name: 'process_resident_memory_bytes',
      help: 'Resident memory of the process.',
      samples: positive(rss),
    },
    {
      ...family,
      name: 'process_heap_bytes',
      help: 'Used JavaScript heap of the process.',
      samples: positive(heap),
    },
    {
      name: 'process_start_time_seconds',
      type: 'gauge',
      unit: 'seconds',
      help: 'Start of the process, in seconds since the Unix epoch.',
      samples: positive(startedAt / 1_000),
    },
  ]
}

const MICROSECONDS = 1e-6

function readProcess(): { cpu?: number; rss?: number; heap?: number } {
  try {
    const process: Process = Object(Reflect.get(globalThis, 'process'))
    const { user, system } = process.cpuUsage?.() ?? { user: 0, system: 0 }
    const { rss = 0, heapUsed = 0 } = process.memoryUsage?.() ?? {}
    return { cpu: (user + system) * MICROSECONDS, rss, heap: heapUsed }
  } catch {
    // Runtimes that imitate Node may throw.
    return {}
  }
}

/** Returns a sample, unless the runtime has none: some return 0. */
function positive(value: number | undefined): Sample[] {
  return value && value > 0 ? [{ labels: {}, value }] : []
}

const INTERVAL_MS = 250

/** Two windows: a scrape every 15 s or more often misses no delay. */
const WINDOW_MS = 15_000

/** Measures how late timers run. */
export interface EventLoopMonitor {
  /** Returns the longest delay of the last 15 to 30 s, in ms; starts measuring and returns undefined the first time. */
  read(): number | undefined
  stop(): void
}

/** Creates a monitor that is not measuring yet, because some hosts permit timers only after the start. */
export function createEventLoopMonitor(): EventLoopMonitor {
  const { monotonic } = systemRuntime(Date.now)
  let [current, previous] = [0, 0]
  let windowStartedAt = monotonic()
  let stopTimer: (() => void) | undefined
  let isStopped = false

  function schedule(): void {
    const dueAt = monotonic() + INTERVAL_MS
    stopTimer = startIdleTimer(() => {
      const now = monotonic()
      if (now - windowStartedAt >= WINDOW_MS) {
        ;[previous, current] = [current, 0]
        windowStartedAt = now
      }
      current = Math.max(current, now - dueAt)
      schedule()
    }, INTERVAL_MS)
  }

  return {
    read() {
      if (isStopped) return undefined
      if (stopTimer) return Math.max(current, previous)
      windowStartedAt = monotonic()
      schedule()
      return undefined
    },
    stop() {
      isStopped = true
      stopTimer?.()
    },
  }
}
