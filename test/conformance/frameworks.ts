import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

import type express from 'express'

// The used parts of frameworks whose own declarations do not compile without `skipLibCheck`, or not with others.

interface H3Module {
  H3: new () => {
    all(path: string, answer: (event: { req: Request }) => Promise<Response>): unknown
  }
  serve(app: object, options: object): { ready(): Promise<{ url?: string }> }
}

interface Elysia {
  all(path: string, answer: (context: { request: Request }) => Promise<Response>): Elysia
  listen(options: object): { server: { port: number } }
}

interface KoaContext {
  path: string
  req: IncomingMessage
  res: ServerResponse
  respond?: boolean
}

interface Koa {
  use(middleware: (context: KoaContext, next: () => Promise<void>) => unknown): unknown
  callback(): RequestListener
}

interface Modules {
  'express-4': { default: typeof express }
  h3: H3Module
  elysia: { Elysia: new () => Elysia }
  koa: { default: new () => Koa }
}

/** A module by a name that the compiler does not follow. */
export function load<Name extends keyof Modules>(name: Name): Promise<Modules[Name]> {
  return import(name)
}
