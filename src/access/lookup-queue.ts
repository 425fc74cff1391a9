import { withTimeout } from '../core.ts'
import type { Runtime } from '../core.ts'

/** Look-ups at once; others wait. */
const MAX_RUNNING = 100
const MAX_WAIT_MS = 2_000

/** Look-ups of one address, running or waiting. */
const MAX_PER_ADDRESS = 5

/** The look-ups of an address that has some running or waiting. */
interface Share {
  started: number
  pending: number
}

interface Waiter {
  share: Share
  start(): void
}

/** Runs `lookUp`, if there is room within 2 s. Rejects only if `lookUp` does. */
export type RunLookup = (address: string | undefined, lookUp: () => Promise<void>) => Promise<void>

/**
 * Addresses that had fewer look-ups go first, so that those which send many wrong keys wait for others. An address has at
 * most five; undefined is all clients without an address, which may have more.
 */
export function createLookupQueue(runtime: Runtime): RunLookup {
  const shares = new Map<string | undefined, Share>()
  const waiting = new Set<Waiter>()
  let running = 0

  function startNext(): void {
    if (running >= MAX_RUNNING) return
    let next: Waiter | undefined
    for (const each of waiting) if (!next || each.share.started < next.share.started) next = each
    if (!next) return
    waiting.delete(next)
    running += 1
    next.share.started += 1
    next.start()
  }

  /** Resolves to whether there is room, which is then taken. */
  async function takePlace(share: Share): Promise<boolean> {
    const waiter: Waiter = { share, start() {} }
    const started = new Promise<boolean>((resolve) => (waiter.start = () => resolve(true)))
    waiting.add(waiter)
    startNext()
    return withTimeout(runtime, MAX_WAIT_MS, started).catch(() => !waiting.delete(waiter))
  }

  return async (address, lookUp) => {
    const share = shares.get(address) ?? { started: 0, pending: 0 }
    if (address !== undefined && share.pending >= MAX_PER_ADDRESS) return
    shares.set(address, share)
    share.pending += 1
    const hasPlace = await takePlace(share)
    try {
      if (hasPlace) await lookUp()
    } finally {
      share.pending -= 1
      if (share.pending === 0) shares.delete(address)
      if (hasPlace) {
        running -= 1
        startNext()
      }
    }
  }
}
