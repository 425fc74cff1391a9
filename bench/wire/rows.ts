import { createKey } from 'ratesmith/access'

import { BUN, DENO, NODE } from '../../test/system/runtimes.ts'

/** The runtimes of the servers, in the order of the tables. */
export const RUNTIMES = { node: NODE, bun: BUN, deno: DENO } as const

export type RuntimeName = keyof typeof RUNTIMES

const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36'

const TRACE = '0af7651916cd43dd8448eb211c80319c'

/** With `Host`, as many headers as a browser sends. */
const BROWSER = {
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
}

/** The headers of a request besides `Host`: few, those of a browser, and those of a browser behind several proxies. */
export const HEADERS = {
  lean: {},
  browser: BROWSER,
  proxy: {
    ...BROWSER,
    'CDN-Loop': 'example; loops=1',
    'CF-Connecting-IP': '203.0.113.7',
    'CF-IPCountry': 'DE',
    'CF-Ray': '8f0000000000000-FRA',
    'CF-Visitor': '{"scheme":"https"}',
    Forwarded: 'for=203.0.113.7;proto=https',
    Pragma: 'no-cache',
    Priority: 'u=1, i',
    Traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
    Tracestate: 'vendor=value',
    Via: '1.1 proxy.example',
    'X-Amzn-Trace-Id': 'Root=1-67891233-abcdef012345678912345678',
    'X-B3-Sampled': '1',
    'X-B3-SpanId': 'b7ad6b7169203331',
    'X-B3-TraceId': TRACE,
    'X-Envoy-Attempt-Count': '1',
    'X-Envoy-Expected-Rq-Timeout-Ms': '15000',
    'X-Forwarded-For': '203.0.113.7',
    'X-Forwarded-Host': 'rates.example',
    'X-Forwarded-Port': '443',
    'X-Forwarded-Proto': 'https',
    'X-Original-Path': '/api',
    'X-Real-IP': '203.0.113.7',
    'X-Request-Id': TRACE,
    'X-Scheme': 'https',
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
const authorization = { authorization: `Bearer ${key}` }

const ROWS: Row[] = [
  node('bare', 'bare `node:http`', 'bare-node'),
  node('text', 'the same, a small body as text', 'bare-text'),
  node('direct', '**ratesmith**, `toNodeHandler`', 'direct', own),
  node('distinct', '**ratesmith**, distinct amounts', 'direct', { ...own, isDistinct: true }),
  node('bare-browser', 'bare, 15 headers', 'bare-node', { headers: 'browser' }),
  node('browser', '**ratesmith**, 15 headers', 'direct', {
    ...own,
    headers: 'browser',
    of: 'bare-browser',
  }),
  node('bare-proxy', 'bare, 40 headers', 'bare-node', { headers: 'proxy' }),
  node('proxy', '**ratesmith**, 40 headers', 'direct', {
    ...own,
    headers: 'proxy',
    of: 'bare-proxy',
  }),
  node('limited', '**ratesmith**, limited by address', 'limited', {
    ...own,
    isLimited: true,
    of: 'direct',
  }),
  node('keyed', '**ratesmith**, with keys and limits', 'limited', {
    ...own,
    isLimited: true,
    of: 'direct',
    authorization,
  }),
  node('serve', '**ratesmith**, `serve`', 'serve-node', own),
  node('express', 'Express 5, `res.end(buffer)`', 'express-route'),
  node('in-express', '**ratesmith** in Express 5', 'in-express', { ...own, of: 'express' }),
  ...host('whatwg', '@whatwg-node/server'),
  node('whatwg-platform', 'the same with the platform’s `Response`', 'fetch-style', {
    ...own,
    of: 'whatwg',
  }),
  ...host('hono', '@hono/node-server'),
  ...host('srvx', 'srvx'),
  ...host('h3', 'h3 on srvx, as in Nitro'),
  node('hono-app', 'Hono, a route', 'hono'),
  node('fastify', 'Fastify, a route', 'fastify'),
  node('naive', 'naive: itty-router, zod, `Response.json`', 'naive', { isNaive: true }),
  node('express-json', 'naive: Express 5, zod, `response.json`', 'naive', { isNaive: true }),
  { ...node('bare-bun', 'bare `Bun.serve`', 'bare-bun'), runtime: 'bun', of: 'bare-bun' },
  {
    ...node('reads-bun', 'the same, reads what must be read', 'bare-bun'),
    runtime: 'bun',
    of: 'bare-bun',
  },
  {
    ...node('bun', '**ratesmith** on Bun, `serve`', 'serve-bun', own),
    runtime: 'bun',
    of: 'bare-bun',
  },
  { ...node('bare-deno', 'bare `Deno.serve`', 'bare-deno'), runtime: 'deno', of: 'bare-deno' },
  {
    ...node('deno', '**ratesmith** on Deno, `serve`', 'serve-deno', own),
    runtime: 'deno',
    of: 'bare-deno',
  },
]

/** Returns the rows of a table on these runtimes, and `also`, a server program on Node. */
export function rowsOf(sheet: Sheet, runtimes: readonly RuntimeName[], also?: string): Row[] {
  const rows = ROWS.filter(
    ({ runtime, isDistinct }) =>
      runtimes.includes(runtime) && (!isDistinct || sheet.distinct !== undefined),
  )
  if (also === undefined) return rows
  return [...rows, { id: 'also', name: also, runtime: 'node', program: also, of: 'bare' }]
}

/** Returns the row that a row is compared with; none if that is the row itself. */
export function referenceOf({ id, of }: Row): Row[] {
  return of === id ? [] : ROWS.filter((row) => row.id === of)
}

function node(id: string, name: string, file: string, traits: Partial<Row> = {}): Row {
  const program = `bench/wire/servers/${file}.ts`
  return { id, name, runtime: 'node', program, of: 'bare', ...traits }
}

/** Returns two rows: a server with a prepared response in its fastest form, and the same with the handler. */
function host(name: HostName, title: string): Row[] {
  return [
    node(name, `${title}, a prepared response`, 'fetch-hosts', { host: name }),
    node(`in-${name}`, `**ratesmith** in ${title}`, 'fetch-hosts', {
      ...own,
      host: name,
      of: name,
    }),
  ]
}
