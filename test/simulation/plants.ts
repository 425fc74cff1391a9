import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ROOT } from '../system/root.ts'
import { OWN_SOURCE } from './source.ts'

/** A bug that somebody might write. */
export interface Plant {
  name: string
  /** The invariants that may be the first to be broken by it. */
  breaks: readonly string[]
  /** The faults that bring it to light, by a part of their names, where that would take too long otherwise. */
  faults?: string
  /** Replacements in files of `src`; what is replaced must be there exactly once. */
  edits: readonly (readonly [file: string, from: string, to: string])[]
}

/** Bugs of the cache and its surroundings, most of which some library has had. */
export const PLANTS: readonly Plant[] = [
  {
    name: 'no pause after a failure',
    breaks: ['I7'],
    edits: [['cache/pacing.ts', 'cooldown.fail(requestedPause(error))', 'cooldown.succeed()']],
  },
  {
    name: 'a pause that the upstream asks for is not kept',
    breaks: ['I7'],
    edits: [
      [
        'cache/cooldown.ts',
        'return Math.min(Math.max(retryAfterMs, LEAST_REQUEST), MOST_REQUEST)',
        'return 0',
      ],
    ],
  },
  {
    name: 'an older publication is taken',
    breaks: ['I4'],
    faults: 'an older publication',
    edits: [
      [
        'sources/latest-source.ts',
        'if (held && held.table.updatedAt > table.updatedAt) {',
        'if (Number.isNaN(table.updatedAt)) {',
      ],
    ],
  },
  {
    name: 'an older publication is adopted from the store',
    breaks: ['I4'],
    faults: 'store lags|an older publication',
    edits: [['cache/shelf.ts', 'const isNewer = ahead > 0 ||', 'const isNewer = ahead !== 0 ||']],
  },
  {
    name: 'a call that never ends',
    breaks: ['I9'],
    faults: 'hangs',
    edits: [
      [
        'cache/within.ts',
        'return await within(runtime, limit, Promise.resolve(work(controller.signal)), parent)',
        'return await work(controller.signal)',
      ],
    ],
  },
  {
    name: 'a flight that keeps its place when it has landed',
    breaks: ['I9', 'I14'],
    edits: [['cache/flight.ts', 'underWay = undefined\n', '\n']],
  },
  {
    name: 'two flights at once',
    breaks: ['I7'],
    edits: [
      ['cache/flight.ts', 'if (underWay) return underWay', ''],
      [
        'cache/flight.ts',
        'return !underWay && pacing.pause() === 0',
        'return pacing.pause() === 0',
      ],
    ],
  },
  {
    name: 'a stored value passes no gates',
    breaks: ['I1', 'I2', 'I3'],
    faults: 'tampered',
    edits: [
      [
        'sources/latest-source.ts',
        'table: acceptTable(table, runtime.now()).data,\n        }',
        'table: { ...table, rates: new Map(Object.entries(table.rates)) },\n        }',
      ],
      ['sources/latest-source.ts', 'if (!provider?.judge) return', 'if (provider) return'],
    ],
  },
  {
    name: 'data are never too old',
    breaks: ['I5'],
    edits: [
      ['cache/freshness.ts', 'return clock() <= dueAt + maxStale', 'return clock() <= dueAt * 2'],
    ],
  },
  {
    name: 'overdue data are not answered with',
    breaks: ['I5', 'I6'],
    edits: [
      ['cache/freshness.ts', 'return clock() <= dueAt + maxStale', 'return clock() <= dueAt'],
    ],
  },
  {
    name: 'a failed refresh makes data fresh',
    breaks: ['I8'],
    edits: [
      [
        'cache/refresh.ts',
        'await load(signal, known)',
        `await load(signal, known).catch((error) => {
          const held = shelf.held()
          if (held) held.refreshAt += 600_000
          throw error
        })`,
      ],
    ],
  },
  {
    name: 'claims are ignored',
    breaks: ['I13'],
    edits: [['cache/refresh.ts', 'if (!(await turns.isOurs(nextPause))) {', 'if (false) {']],
  },
  {
    name: 'a wait outlasts what it was for',
    breaks: ['I13'],
    faults: 'hangs',
    edits: [['cache/turns.ts', 'if (wait.held !== held)', 'if (false)']],
  },
  {
    name: 'nobody looks for what another process has loaded',
    breaks: ['I13'],
    edits: [['cache/refresh.ts', 'await shelf.lookUp(LOOKED_JUST_NOW)', '']],
  },
  {
    name: 'clients wait as long as it takes',
    breaks: ['I6'],
    faults: 'hangs',
    edits: [
      [
        'cache/waiting.ts',
        'const limit = askedAt + WAITING_LIMIT - runtime.monotonic()',
        'const limit = 4 * WAITING_LIMIT',
      ],
    ],
  },
  {
    name: 'a slow store keeps everybody waiting',
    breaks: ['I6', 'I9', 'I12'],
    faults: 'store is slow|store hangs',
    edits: [['cache/guarded-store.ts', 'const ASKING_LIMIT = 50', 'const ASKING_LIMIT = 60_000']],
  },
  {
    name: 'the pause grows to a day',
    breaks: ['I14'],
    edits: [['cache/pacing.ts', 'longest: 300_000', 'longest: 86_400_000']],
  },
  {
    name: 'answers are remembered beyond their data',
    breaks: ['I1', 'I2', 'I3', 'I4', 'I12'],
    edits: [['http/memory.ts', 'if (data !== madeOf || day !== madeOn) held.clear()', '']],
  },
  {
    name: 'errors may be cached',
    breaks: ['I10'],
    edits: [
      [
        'http/respond.ts',
        'const headers: Header[] = [...UNCACHED_HEADERS, lengthHeader(byteLength(body))]\n  if',
        'const headers = [...JSON_HEADERS, lengthHeader(byteLength(body))]\n  if',
      ],
    ],
  },
  {
    name: 'errors say what went wrong',
    breaks: ['I11'],
    faults: 'refused',
    edits: [
      [
        'http/respond.ts',
        'const body = JSON.stringify(record)\n  const headers: Header[] =',
        `const why = (error) =>
    error instanceof Error ? [error.message, why(error.cause)].join() : ''
  const body = JSON.stringify({ ...record, why: why(error) })
  const headers: Header[] =`,
      ],
    ],
  },
  {
    name: 'the status says what went wrong',
    breaks: ['I11'],
    faults: 'refused',
    edits: [
      [
        'cache/flight.ts',
        "attempt = { at, outcome: 'failed' }",
        "attempt = { at, outcome: 'failed', why: String(error.cause?.cause?.cause) }",
      ],
    ],
  },
  {
    name: 'the base of the table instead of the one asked for',
    breaks: ['I15'],
    edits: [['records/latest.ts', 'base: from, updatedAt', 'base: table.base, updatedAt']],
  },
  {
    name: 'a listener for every client',
    breaks: ['I12'],
    edits: [['cache/within.ts', "signal?.removeEventListener('abort', onAbort)", '']],
  },
  {
    name: 'timers that nobody stops',
    breaks: ['I12'],
    faults: 'refused',
    edits: [['cache/within.ts', 'stopTimer()\n      signal', 'signal']],
  },
  {
    name: 'close() closes nothing',
    breaks: ['I12'],
    edits: [
      ['cache/flight.ts', 'isClosed = true', ''],
      ['cache/flight.ts', "closing?.abort(new Error('closed'))", ''],
    ],
  },
  {
    name: 'a refresh that fails behind an answer goes unhandled',
    breaks: ['I1'],
    edits: [
      [
        'cache/go-on.ts',
        'const settled = work.then(\n    () => undefined,\n    () => undefined,\n  )',
        'const settled = work.then(() => undefined)',
      ],
    ],
  },
  {
    name: 'a publication of next month is taken',
    breaks: ['I3'],
    faults: 'next month',
    edits: [['rates/accept.ts', 'MOST_AHEAD_MS = 48 * HOUR_MS', 'MOST_AHEAD_MS = 1e6 * HOUR_MS']],
  },
  {
    name: 'half a table is taken',
    breaks: ['I3'],
    faults: 'three quarters',
    edits: [['providers/market-gates.ts', 'LEAST_SHARE_KEPT = 0.8', 'LEAST_SHARE_KEPT = 0.2']],
  },
  {
    name: 'a table turned over is taken',
    breaks: ['I3'],
    faults: 'turned over',
    edits: [['providers/market-gates.ts', 'MOST_MOVED = 0.5', 'MOST_MOVED = 1']],
  },
  {
    name: 'a thousandfold rate is taken at once',
    breaks: ['I3'],
    faults: 'times a thousand',
    edits: [['providers/market-gates.ts', 'SINGLE_MOVE = 10', 'SINGLE_MOVE = 1e5']],
  },
  {
    name: 'a rate that is held back is served',
    breaks: ['I3'],
    faults: 'times a thousand',
    edits: [
      [
        'providers/market-gates.ts',
        'rates: { ...rates, ...valuesOf(previous.rates) }',
        'rates: rates',
      ],
    ],
  },
  {
    name: 'bad rates are let through',
    breaks: ['I3'],
    edits: [['rates/accept.ts', 'BAD_SHARE_TOLERATED = 0.05', 'BAD_SHARE_TOLERATED = 0.5']],
  },
  {
    name: 'a day of history is skipped',
    breaks: ['I3'],
    edits: [['sources/history-source.ts', 'addDays(newest, 1)', 'addDays(newest, 2)']],
  },
  {
    name: 'every period is a week',
    breaks: ['I3'],
    edits: [
      [
        'rates/period.ts',
        "period === '1W' ? addDays(end, -7) : subtractMonths(end, MONTHS[period])",
        'addDays(end, -7)',
      ],
    ],
  },
]

/** A bug that makes two runs of one seed differ. */
export const CHANCE: Plant = {
  name: 'randomness of its own',
  breaks: ['I16'],
  edits: [['cache/freshness.ts', 'runtime.random()', 'Math.random()']],
}

/**
 * A copy of `src` with the bug in it, and what removes the copy again.
 *
 * @throws {Error} where what is to be replaced is not there exactly once
 */
export function plant({ name, edits }: Plant): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-plant-'))
  const source = join(folder, 'src')
  cpSync(OWN_SOURCE, source, { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const [file, from, to] of edits) {
    const path = join(source, file)
    const parts = readFileSync(path, 'utf8').split(from)
    if (parts.length !== 2) {
      throw new Error(`"${name}": ${file} has ${parts.length - 1} times what is to be replaced`)
    }
    writeFileSync(path, parts.join(to))
  }
  return { folder: source, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
