import { createKey } from 'ratesmith/access'

import { BUN, DENO, NODE } from '../../test/system/runtimes.ts'

/** The runtimes of the servers, in the order of the tables. */
export const RUNTIMES = { node: NODE, bun: BUN, deno: DENO } as const

export type RuntimeName = keyof typeof RUNTIMES

const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36'

/** The headers of a request besides `Host`: few, or those of a browser. */
export const HEADERS = {
  lean: {},
  browser: {
    'User-Agent': AGENT,
    Accept: '*/*',
    'Accept-Encoding': 'gzip, deflate, br, zstd',
    'Accept-Language': 'en-GB,en;q=0.9,de;q=0.8',
    Connection: 'keep-alive',
    Cookie: 'session=0123456789abcdef0123456789abcdef; theme=dark',
    DNT: '1',
    Referer: 'https://shop.example/cart',
    'Sec-CH-UA': '"Chromium";v="143", "Not A(Brand";v="24"',
    'Sec-CH-UA-Mobile': '?0',
    'Sec-CH-UA-Platform': '"Linux"',
    'Sec-Fetch-Dest': 'empty',
    'Sec-Fetch-Mode': 'cors',
    'Sec-Fetch-Site': 'same-origin',
  },
} as const satisfies Record<string, Readonly<Record<string, string>>>

/** A server of the tables. */
export interface Row {
  /** Identifies the row in the goals. */
  id: string
  name: string
  runtime: RuntimeName
  /** Path of its program from the project's root. */
  program: string
  /** The id of the row that it is compared with. */
  of: string
  /** Whether it runs the handler, and so needs no prepared response. */
  isOurs?: boolean
  /** Whether it computes rates itself, with other digits and headers. */
  isNaive?: boolean
  /** Whether every request has a new amount. */
  isDistinct?: boolean
  /** Whether it has keys and limits, and so other headers. */
  isLimited?: boolean
  /** Headers of every request (default `lean`). */
  headers?: keyof typeof HEADERS
  /** API key of every request, as a header. */
  authorization?: { authorization: string }
  /** Passed to the program: which server of the npm registry it is. */
  host?: HostName
  /** Path and query, where they differ from those of the table. */
  target?: string
}

/** A server on Node that takes `Request` and `Response`. */
export type HostName = 'whatwg' | 'hono' | 'srvx' | 'h3'

/** A table: one target, and so one size of body. */
export interface Sheet {
  target: string
  /** The targets of distinct queries, as `load` reads them. */
  distinct?: string
}

export type SheetName = 'convert' | 'table' | 'history'

export const SHEETS: Record<SheetName, Sheet> = {
  convert: {
    target: '/api/v1/convert?from=USD&to=EUR&amount=100',
    distinct: '/api/v1/convert?from=USD&to=EUR&amount={number}',
  },
  table: { target: '/api/v1/latest?base=EUR' },
  history: {
    target: '/api/v1/history?from=USD&to=JPY&period=5Y',
    distinct: '/api/v1/history?from=USD&to={code}&start={day}',
  },
}

const own = { isOurs: true } as const

// The servers accept every key.
const { key } = await createKey()
const authorization = { authorization: `Bearer ${key}` }

const BUN_ROW = { runtime: 'bun', of: 'bare-bun' } as const
const DENO_ROW = { runtime: 'deno', of: 'bare-deno' } as const

const ROWS: Row[] = [
  server('bare', 'bare `node:http`', 'bare-node'),
  server('text', 'the same, a small body as text', 'bare-text'),
  server('direct', '**ratesmith**, `toNodeHandler`', 'direct', own),
  server('bare-distinct', 'bare, distinct queries', 'bare-node', { isDistinct: true }),
  server('distinct', '**ratesmith**, distinct queries', 'direct', {
    ...own,
    isDistinct: true,
    of: 'bare-distinct',
  }),
  server('bare-browser', 'bare, 15 headers', 'bare-node', { headers: 'browser' }),
  server('browser', '**ratesmith**, 15 headers', 'direct', {
    ...own,
    headers: 'browser',
    of: 'bare-browser',
  }),
  server('limited', '**ratesmith**, limited by address', 'limited', {
    ...own,
    isLimited: true,
    of: 'direct',
  }),
  server('keyed', '**ratesmith**, with keys and limits', 'limited', {
    ...own,
    isLimited: true,
    of: 'direct',
    authorization,
  }),
  server('express', 'Express 5, `res.end(buffer)`', 'express-route'),
  server('in-express', '**ratesmith** in Express 5', 'in-express', { ...own, of: 'express' }),
  ...host('whatwg', '@whatwg-node/server'),
  ...host('hono', '@hono/node-server'),
  ...host('srvx', 'srvx'),
  ...host('h3', 'h3 on srvx, as in Nitro'),
  server('hono-app', 'Hono, a route', 'hono'),
  server('fastify', 'Fastify, a route', 'fastify'),
  server('naive', 'naive: itty-router, zod, `Response.json`', 'naive', { isNaive: true }),
  server('express-json', 'naive: Express 5, zod, `response.json`', 'naive', { isNaive: true }),
  server('bare-bun', 'bare `Bun.serve`', 'bare-bun', BUN_ROW),
  server('reads-bun', 'the same, reads what must be read', 'bare-bun', BUN_ROW),
  server('bun', '**ratesmith** on Bun, `serve`', 'serve-bun', { ...own, ...BUN_ROW }),
  server('bare-deno', 'bare `Deno.serve`', 'bare-deno', DENO_ROW),
  server('deno', '**ratesmith** on Deno, `serve`', 'serve-deno', { ...own, ...DENO_ROW }),
]

/** The ids of all rows. */
export const ROW_IDS: Readonly<Record<string, true>> = Object.fromEntries(
  ROWS.map(({ id }) => [id, true]),
)

/** Returns the rows of a table on these runtimes. */
export function rowsOf(name: SheetName, runtimes: readonly RuntimeName[]): Row[] {
  return ROWS.filter(
    ({ runtime, isDistinct }) =>
      runtimes.includes(runtime) && (!isDistinct || SHEETS[name].distinct !== undefined),
  )
}

export function isName<Name extends string>(
  name: string,
  known: Readonly<Record<Name, unknown>>,
): name is Name {
  return Object.hasOwn(known, name)
}

/** Returns the row that a row is compared with; none if that is the row itself. */
export function referenceOf({ id, of }: Row): Row[] {
  return of === id ? [] : ROWS.filter((row) => row.id === of)
}

function server(id: string, name: string, file: string, traits: Partial<Row> = {}): Row {
  const program = `bench/wire/servers/${file}.ts`
  return { id, name, runtime: 'node', program, of: 'bare', ...traits }
}

/** Returns two rows: a server with a prepared response in its fastest form, and the same with the handler. */
function host(name: HostName, title: string): Row[] {
  return [
    server(name, `${title}, a prepared response`, 'fetch-hosts', { host: name }),
    server(`in-${name}`, `**ratesmith** in ${title}`, 'fetch-hosts', {
      ...own,
      host: name,
      of: name,
    }),
  ]
}
