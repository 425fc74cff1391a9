import { createKey } from 'ratesmith/access'

import { BUN, DENO, NODE } from '../../test/system/runtimes.ts'

/** The runtimes of the servers, in the order of the tables. */
export const RUNTIMES = { node: NODE, bun: BUN, deno: DENO } as const

export type RuntimeName = keyof typeof RUNTIMES

/** A server of the tables. */
export interface Row {
  /** Identifies the row in the goals. */
  id: string
  name: string
  runtime: RuntimeName
  /** Path of its program from the project's root. */
  program: string
  /** Whether it runs the handler, and so needs no prepared response. */
  isOurs?: boolean
  /** Whether it computes rates itself, with other digits and headers. */
  isNaive?: boolean
  /** Whether every request has a new amount. */
  isDistinct?: boolean
  /** Whether it has keys and limits, and so other headers. */
  isLimited?: boolean
  /** API key of every request. */
  key?: string
}

/** A table: one target, and so one size of body. */
export interface Sheet {
  target: string
  /** The target without the number that makes it distinct. */
  distinct?: string
}

export type SheetName = 'convert' | 'table' | 'history'

export const SHEETS: Record<SheetName, Sheet> = {
  convert: {
    target: '/api/v1/convert?from=USD&to=EUR&amount=100',
    distinct: '/api/v1/convert?from=USD&to=EUR&amount=',
  },
  table: { target: '/api/v1/latest?base=EUR' },
  history: { target: '/api/v1/history?from=USD&to=JPY&period=5Y' },
}

const own = { isOurs: true } as const

// The servers accept every key.
const { key } = await createKey()

const ROWS: Row[] = [
  node('bare', 'bare `node:http`', 'bare-node'),
  node('text', 'the same, a small body as text', 'bare-text'),
  node('direct', '**ratesmith**, `toNodeHandler`', 'direct', own),
  node('distinct', '**ratesmith**, distinct amounts', 'direct', { ...own, isDistinct: true }),
  node('limited', '**ratesmith**, limited by address', 'limited', { ...own, isLimited: true }),
  node('keyed', '**ratesmith**, with keys and limits', 'limited', { ...own, isLimited: true, key }),
  node('serve', '**ratesmith**, `serve`', 'serve-node', own),
  node('fetch-style', '**ratesmith** through @whatwg-node/server', 'fetch-style', own),
  node('in-express', '**ratesmith** in Express 5', 'in-express', own),
  node('express', 'Express 5, `res.end(buffer)`', 'express-route'),
  node('hono', 'Hono on @hono/node-server', 'hono'),
  node('fastify', 'Fastify', 'fastify'),
  node('h3', 'h3 on srvx', 'h3'),
  node('whatwg', '@whatwg-node/server, ready `Response`', 'whatwg'),
  node('whatwg-own', '@whatwg-node/server, its own `Response`', 'whatwg-own'),
  node('naive', 'naive: itty-router, zod, `Response.json`', 'naive', { isNaive: true }),
  { ...node('bare-bun', 'bare `Bun.serve`', 'bare-bun'), runtime: 'bun' },
  { ...node('bun', '**ratesmith** on Bun, `serve`', 'serve-bun', own), runtime: 'bun' },
  { ...node('bare-deno', 'bare `Deno.serve`', 'bare-deno'), runtime: 'deno' },
  { ...node('deno', '**ratesmith** on Deno, `serve`', 'serve-deno', own), runtime: 'deno' },
]

/** The id of the row that others of the same runtime are compared with. */
export const BARE: Record<RuntimeName, string> = {
  node: 'bare',
  bun: 'bare-bun',
  deno: 'bare-deno',
}

/** Returns the rows of a table on these runtimes, and `also`, a server program on Node. */
export function rowsOf(sheet: Sheet, runtimes: readonly RuntimeName[], also?: string): Row[] {
  const rows = ROWS.filter(
    ({ runtime, isDistinct }) =>
      runtimes.includes(runtime) && (!isDistinct || sheet.distinct !== undefined),
  )
  if (also === undefined) return rows
  return [...rows, { id: 'also', name: also, runtime: 'node', program: also }]
}

function node(id: string, name: string, file: string, traits: Partial<Row> = {}): Row {
  return { id, name, runtime: 'node', program: `bench/wire/servers/${file}.ts`, ...traits }
}
