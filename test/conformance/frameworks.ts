import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

import type express from 'express'

// What is used of frameworks whose own declarations do not compile without `skipLibCheck`, or not beside others.

/** An earlier Express, under a name of its own beside the present one. */
export function loadExpress4(): Promise<{ default: typeof express }> {
  return load('express-4')
}

export function loadH3(): Promise<{
  H3: new () => {
    all(path: string, answer: (event: { req: Request }) => Promise<Response>): unknown
  }
  serve(app: object, options: object): { ready(): Promise<{ url?: string }> }
}> {
  return load('h3')
}

interface Elysia {
  all(path: string, answer: (context: { request: Request }) => Promise<Response>): Elysia
  listen(options: object): { server: { port: number } }
}

export function loadElysia(): Promise<{ Elysia: new () => Elysia }> {
  return load('elysia')
}

interface KoaContext {
  path: string
  req: IncomingMessage
  res: ServerResponse
  respond?: boolean
}

export function loadKoa(): Promise<{
  default: new () => {
    use(middleware: (context: KoaContext, next: () => Promise<void>) => unknown): unknown
    callback(): RequestListener
  }
}> {
  return load('koa')
}

/** A module by a name that the compiler does not follow. */
function load<Module>(name: string): Promise<Module> {
  return import(name)
}
