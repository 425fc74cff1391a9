// The ways to ask a handler.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

import express from 'express'
import type { RequestHandler } from 'express'

import type { RawRequest } from '../../src/index.ts'
import type { World } from './worlds.ts'
import { wholeBody } from '../whole-body.ts'

/** A request, or a call of an operation. */
export interface Question {
  method?: string
  target?: string
  headers?: Readonly<Record<string, string>>
  body?: string
  /** Address of the client, for `answer`. */
  client?: string
  /** An operation and its arguments. */
  call?: readonly [operation: string, ...args: unknown[]]
  /** What happens before. */
  before?:
    | { at?: string; isUp?: boolean; edit?: (text: string) => string; isRefreshed?: boolean }
    | undefined
}

/** A response; the status of a call is `resolved` or `rejected`. */
export interface Answer {
  status: number | string
  headers: [name: string, value: string][]
  body: string
}

export interface Door {
  ask(question: Question): Promise<Answer>
}

function toAnswer(status: number, headers: Iterable<[string, string]>, body: string): Answer {
  const named = [...headers].map(([name, value]): [string, string] => [name.toLowerCase(), value])
  const kept = named.filter(([name]) => name !== 'date')
  return { status, headers: kept.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)), body }
}

function viaFetch({ handler }: World): Door {
  return {
    async ask({ method = 'GET', target = '', headers = {}, body }) {
      const init = { method, headers, ...(body !== undefined && { body }) }
      const response = await handler(new Request(`http://localhost${target}`, init))
      return toAnswer(response.status, response.headers, await response.text())
    },
  }
}

function viaAnswer({ handler }: World): Door {
  return {
    async ask({ method = 'GET', target = '', headers = {}, body, client }) {
      const sent = new Headers({ ...headers })
      const request: RawRequest = {
        method,
        target,
        header: (name) => sent.get(name) ?? undefined,
        async readBody(onChunk) {
          onChunk(new TextEncoder().encode(body ?? ''))
        },
        ...(client !== undefined && { client }),
      }
      const raw = await handler.answer(request)
      const all: [string, string][] = [...raw.headers, ['(matched)', String(raw.matched)]]
      return toAnswer(raw.status, all, await wholeBody(raw.body))
    },
  }
}

/** Asks operations of `handler.rates`, or of a client of the handler. */
function viaCalls(world: World, operations: object): Door {
  return {
    async ask(question) {
      if (!question.call) return viaFetch(world).ask(question)
      const [name, ...args] = question.call
      const operation: unknown = Reflect.get(operations, name)
      if (typeof operation !== 'function') throw new Error(`no operation ${name}`)
      try {
        const result: unknown = await operation(...args)
        return { status: 'resolved', headers: [], body: JSON.stringify(result) }
      } catch (error) {
        const { name: type, code, status, message } = Object(error)
        const body = JSON.stringify({ type, code, status, message })
        return { status: 'rejected', headers: [], body }
      }
    },
  }
}

/** Asks over one connection for each question. */
function viaHttp(port: number): Door {
  return {
    async ask({ method = 'GET', target = '', headers = {}, body }) {
      const length = body !== undefined && { 'Content-Length': Buffer.byteLength(body) }
      const given = { Host: 'localhost', ...headers, ...length }
      const options = {
        host: '127.0.0.1',
        port,
        method,
        path: target,
        headers: given,
        agent: false,
      }
      // A connection may be reset after the response, too.
      const sent = request(options).on('error', () => {})
      sent.end(body)
      const [response]: IncomingMessage[] = await once(sent, 'response')
      if (!response) throw new Error('no response')
      const named = Object.entries(response.headers).map(([name, value]): [string, string] => {
        return [name, String(value)]
      })
      return toAnswer(response.statusCode ?? 0, named, await text(response))
    },
  }
}

/** Serves with the adapter of the runtime, and returns the port. */
async function serveOn(runtime: string, { tree, handler }: World): Promise<number> {
  const options = { port: 0, hostname: '127.0.0.1' }
  const { url } = await tree.call<{ url: string }>('serve', [runtime], handler, options)
  return Number(new URL(url).port)
}

async function viaExpress({ tree, handler }: World): Promise<Door> {
  const mounted = await tree.call<RequestHandler>('toExpressHandler', ['express'], handler)
  const server = createServer(express().use(mounted))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: { port: number } = Object(server.address())
  return viaHttp(port)
}

/** Opens a door to the world of a scene; throws an error with the reason if the tree lacks it. */
export async function openDoor(name: string, world: World): Promise<Door> {
  const { tree, handler } = world
  if (name === 'fetch') return viaFetch(world)
  if (name === 'answer') return viaAnswer(world)
  if (name === 'rates') return viaCalls(world, handler.rates)
  if (name === 'client') {
    const options = { baseUrl: 'http://localhost/api', fetch: handler, retries: 0 }
    return viaCalls(world, await tree.call('createRatesClient', ['client'], options))
  }
  if (name === 'express') return viaExpress(world)
  return viaHttp(await serveOn(name, world))
}
