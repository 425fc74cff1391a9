// Serves a handler with a limit by address, as its settings select, and prints the port or the path of its socket.
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { Server } from 'node:net'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { createAccess } from 'ratesmith/access'
import type { AddressOptions } from 'ratesmith/access'
import { serve as serveBun } from 'ratesmith/bun'
import { frankfurter } from 'ratesmith/compat/frankfurter'
import { serve as serveDeno } from 'ratesmith/deno'
import { toExpressHandler } from 'ratesmith/express'
import { serve as serveNode, toNodeHandler } from 'ratesmith/node'
import type { FetchHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { reportToParent, settingsFromParent } from './child.ts'
import { listenOnFreePort, portIn } from './sockets.ts'

/** Settings of this program. */
export interface AddressSettings {
  mount: keyof typeof MOUNTS
  /** Path of the socket of `unixSocket`. */
  path?: string
  quota: number
  options?: AddressOptions
}

const { mount, path = '', quota, options }: AddressSettings = JSON.parse(settingsFromParent())

const LOOPBACK = { port: 0, hostname: '127.0.0.1' }

/** Serves `rates` and resolves to the port. `fetch` is the same as a fetch-style handler. */
type Mount = (rates: RatesHandler, fetch: FetchHandler) => Promise<number>

interface FetchServer {
  serve(options: object, handler?: FetchHandler): { port?: number; addr?: { port: number } }
}

/** The used parts of frameworks whose declarations do not compile without `skipLibCheck`, or conflict with others. */
interface Modules {
  koa: {
    default: new () => {
      use(middleware: (context: { req: IncomingMessage; res: ServerResponse }) => unknown): unknown
      callback(): RequestListener
    }
  }
  h3: {
    H3: new () => { all(path: string, route: (event: { req: Request }) => unknown): unknown }
    serve(app: object, options: object): { ready(): Promise<{ url?: string }> }
  }
  elysia: {
    Elysia: new () => {
      all(
        path: string,
        route: (context: { request: Request; server: unknown }) => unknown,
      ): { listen(options: object): { server: { port: number } } }
    }
  }
}

function load<Name extends keyof Modules>(name: Name): Promise<Modules[Name]> {
  return import(name)
}

function runtime(name: 'Bun' | 'Deno'): FetchServer {
  return Reflect.get(globalThis, name)
}

const MOUNTS = {
  serveNode: async (rates) => portIn((await serveNode(rates, LOOPBACK)).url),
  serveBun: async (rates) => portIn((await serveBun(rates, LOOPBACK)).url),
  serveDeno: async (rates) => portIn((await serveDeno(rates, LOOPBACK)).url),
  bunItself: async ({ fetch }) => runtime('Bun').serve({ ...LOOPBACK, fetch }).port ?? 0,
  denoItself: async (rates) =>
    runtime('Deno').serve({ ...LOOPBACK, onListen() {} }, rates).addr?.port ?? 0,
  fetchStyleOnNode: (_, fetch) => listen(toNodeHandler((request, info) => fetch(request, info))),
  http2: (rates) => listenOnFreePort(createHttp2Server(toNodeHandler(rates))),
  fetchStyleOverHttp2: (_, fetch) =>
    listenOnFreePort(createHttp2Server(toNodeHandler((request, info) => fetch(request, info)))),
  unixSocket: (rates) => listenAt(createServer(toNodeHandler(rates)), path),
  async express(rates) {
    const { default: express } = await import('express')
    // The setting is Express's own: the handler reads the socket.
    const app = express().set('trust proxy', true)
    return listen(app.use(toExpressHandler(rates)))
  },
  async fastify(rates) {
    const { default: fastify } = await import('fastify')
    const mounted = toExpressHandler(rates)
    const app = fastify({ trustProxy: true })
    app.addHook('onRequest', ({ raw }, reply, next) => mounted(raw, reply.raw, next))
    return portIn(await app.listen({ port: 0, host: '127.0.0.1' }))
  },
  async hono(_, fetch) {
    const [{ Hono }, { serve }, { getConnInfo }] = await Promise.all([
      import('hono'),
      import('@hono/node-server'),
      import('@hono/node-server/conninfo'),
    ])
    const app = new Hono()
    app.all('/*', (c) => fetch(c.req.raw, { client: getConnInfo(c).remote.address }))
    return new Promise((resolve) => {
      serve({ fetch: app.fetch, ...LOOPBACK }, ({ port }) => resolve(port))
    })
  },
  async h3(_, fetch) {
    const { H3, serve } = await load('h3')
    const app = new H3()
    app.all('/**', ({ req }) => fetch(req, { client: Reflect.get(req, 'ip') }))
    const server = await serve(app, { ...LOOPBACK, silent: true }).ready()
    return portIn(server.url ?? '')
  },
  async elysia(_, fetch) {
    const { Elysia } = await load('elysia')
    const app = new Elysia().all('/*', ({ request, server }) => fetch(request, server))
    return app.listen(LOOPBACK).server.port
  },
  async koa(rates) {
    const { default: Koa } = await load('koa')
    const mounted = toNodeHandler(rates)
    const app = new Koa()
    app.use((context) => {
      Object.assign(context, { respond: false })
      mounted(context.req, context.res)
    })
    return listen(app.callback())
  },
} satisfies Record<string, Mount>

function listen(listener: RequestListener): Promise<number> {
  return listenOnFreePort(createServer(listener))
}

function listenAt(server: Server, socket: string): Promise<number> {
  return new Promise((resolve) => {
    server.listen(socket, () => resolve(0))
  })
}

const access = createAccess({
  anonymous: 'free',
  // The limit must not refill while the tests run.
  plans: { free: { burst: `${quota}/day` } },
  ...options,
})
const handler = frankfurter(createRatesHandler({ providers: fakeProviders(), access }))
await handler.refresh()
reportToParent({ port: await MOUNTS[mount](handler, handler) })
