import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'

import { Response as WhatwgResponse, createServerAdapter } from '@whatwg-node/server'
import type express from 'express'

import type { RatesHandler } from 'ratesmith'
import { serve as serveBun } from 'ratesmith/bun'
import { serve as serveDeno } from 'ratesmith/deno'
import { toExpressHandler } from 'ratesmith/express'
import { toNextHandler } from 'ratesmith/next'
import { serve as serveNode, toNodeHandler } from 'ratesmith/node'
import type { FetchHandler } from 'ratesmith/node'

import { listenOnFreePort, portIn } from '../system/sockets.ts'

type Route<Context> = (context: Context) => Response | Promise<Response>

interface Elysia {
  all(path: string, route: Route<{ request: Request; server: object }>): Elysia
  listen(options: object): { server: { port: number } }
}

interface KoaContext {
  path: string
  req: IncomingMessage
  res: ServerResponse
  respond?: boolean
}

/** The used parts of frameworks whose declarations do not compile without `skipLibCheck`, or conflict with others. */
interface Modules {
  'express-4': { default: typeof express }
  h3: {
    H3: new () => { all(path: string, route: Route<{ req: Request }>): unknown }
    serve(app: object, options: object): { ready(): Promise<{ url?: string }> }
  }
  elysia: { Elysia: new () => Elysia }
  koa: {
    default: new () => {
      use(middleware: (context: KoaContext, next: () => Promise<void>) => unknown): unknown
      callback(): RequestListener
    }
  }
}

function load<Name extends keyof Modules>(name: Name): Promise<Modules[Name]> {
  return import(name)
}

/** Serves `rates` on a free loopback port and resolves to that port. */
export type Mount = (rates: RatesHandler & FetchHandler) => Promise<number>

const ANY_PORT = { port: 0 }
const LOOPBACK = { port: 0, hostname: '127.0.0.1' }

/** All documented ways to serve or mount the handler, with the address of the client. */
export const MOUNTS = {
  serveNode: async (rates) => portIn((await serveNode(rates, ANY_PORT)).url),
  serveBun: async (rates) => portIn((await serveBun(rates, ANY_PORT)).url),
  serveDeno: async (rates) => portIn((await serveDeno(rates, ANY_PORT)).url),

  fetchStyleOnNode: (rates) => listen(toNodeHandler((request, info) => rates(request, info))),
  fetchStyleOverHttp2: (rates) =>
    listenOnFreePort(createHttp2Server(toNodeHandler((request, info) => rates(request, info)))),
  http2: (rates) => listenOnFreePort(createHttp2Server(toNodeHandler(rates))),

  async whatwg(rates) {
    globalThis.Response = WhatwgResponse
    return listen(createServerAdapter(rates))
  },
  async srvx(rates) {
    const { FastResponse, serve } = await import('srvx')
    globalThis.Response = FastResponse
    const server = await serve({ fetch: rates, ...LOOPBACK, silent: true }).ready()
    return portIn(server.url ?? '')
  },

  /** As Next.js calls a route handler: by method, with the parts of the path. It rejects other methods itself. */
  next: (rates) => {
    type NextFunction = (request: Request, context: object) => Promise<Response>
    const functions = new Map<string, NextFunction>(Object.entries(toNextHandler(rates)))
    const route = async (request: Request): Promise<Response> => {
      const params = Promise.resolve({ path: ['client'] })
      return functions.get(request.method)?.(request, { params }) ?? rates(request)
    }
    return listen(toNodeHandler(route))
  },

  express5: async (rates) => listen(appOn((await import('express')).default, '/', rates)),
  express4: async (rates) => listen(appOn((await load('express-4')).default, '/', rates)),
  express5Prefix: async (rates) => listen(appOn((await import('express')).default, '/fx', rates)),

  async hono(rates) {
    const [{ Hono }, { serve }, { getConnInfo }] = await Promise.all([
      import('hono'),
      import('@hono/node-server'),
      import('@hono/node-server/conninfo'),
    ])
    const app = new Hono()
    app.all('/api/*', (c) => rates(c.req.raw, { client: getConnInfo(c).remote.address }))
    return new Promise((resolve) => {
      serve({ fetch: app.fetch, ...LOOPBACK }, ({ port }) => resolve(port))
    })
  },
  async h3(rates) {
    const { H3, serve } = await load('h3')
    const app = new H3()
    app.all('/api/**', ({ req }) => rates(req, { client: Reflect.get(req, 'ip') }))
    const server = await serve(app, { ...LOOPBACK, silent: true }).ready()
    return portIn(server.url ?? '')
  },
  async elysia(rates) {
    const { Elysia } = await load('elysia')
    const app = new Elysia().all('/api/*', ({ request, server }) => rates(request, server))
    return app.listen(LOOPBACK).server.port
  },
  async fastify(rates) {
    const { default: fastify } = await import('fastify')
    const mounted = toExpressHandler(rates)
    const app = fastify({ trustProxy: true })
    app.addHook('onRequest', ({ raw }, reply, next) => mounted(raw, reply.raw, next))
    return portIn(await app.listen(LOOPBACK))
  },
  async koa(rates) {
    const { default: Koa } = await load('koa')
    const mounted = toNodeHandler(rates)
    const app = new Koa()
    app.use((context, next) => {
      if (!context.path.startsWith('/api/')) return next()
      context.respond = false
      return mounted(context.req, context.res)
    })
    return listen(app.callback())
  },
} satisfies Record<string, Mount>

function appOn(createApp: typeof express, path: string, rates: RatesHandler): RequestListener {
  // The handler reads the socket, not what Express trusts.
  return createApp()
    .disable('x-powered-by')
    .set('trust proxy', true)
    .use(path, toExpressHandler(rates))
}

function listen(listener: RequestListener): Promise<number> {
  return listenOnFreePort(createServer(listener))
}
