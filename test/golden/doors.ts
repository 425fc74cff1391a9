// The ways to ask a handler.
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'

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

/** A response; the status of a call is `resolved` or `rejected`, that of a connection without one `closed`. */
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
      const request = new Request(`http://localhost${target}`, {
        method,
        headers,
        ...(body !== undefined && { body }),
      })
      const response = await handler(request)
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
      const text = await wholeBody(raw.body)
      return toAnswer(raw.status, [...raw.headers, ['(matched)', String(raw.matched)]], text)
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
        const text = JSON.stringify({ type, code, status, message })
        return { status: 'rejected', headers: [], body: text }
      }
    },
  }
}

/** Longer heads of requests are refused by the servers of the runtimes, some by closing the connection. */
const MAX_HEAD = 8_000

/** Asks over one connection for each question, byte for byte. */
function viaSocket(port: number): Door {
  return {
    async ask({ method = 'GET', target = '', headers = {}, body }) {
      const given = {
        Host: 'localhost',
        ...headers,
        ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
      }
      const fields = Object.entries({ ...given, Connection: 'close' }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      )
      const head = `${method} ${target} HTTP/1.1\r\n${fields.join('')}\r\n`
      if (head.length > MAX_HEAD) throw new Error('too long for a server')
      const socket = connect(port, '127.0.0.1')
      socket.setTimeout(20_000, () => socket.destroy(new Error('no response in 20 s')))
      socket.write(head + (body ?? ''))
      return parseResponse(await buffer(socket))
    },
  }
}

function parseResponse(bytes: Buffer): Answer {
  if (bytes.length === 0) return { status: 'closed', headers: [], body: '' }
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = bytes
    .subarray(0, Math.max(end, 0))
    .toString('latin1')
    .split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  const isChunked = headers.some(
    ([name, value]) => /^transfer-encoding$/i.test(name) && value === 'chunked',
  )
  const body = bytes.subarray(end + 4)
  return toAnswer(
    Number(first.split(' ')[1]),
    headers,
    (isChunked ? unchunk(body) : body).toString(),
  )
}

function unchunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const line = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.subarray(at, line).toString(), 16)
    if (!(size > 0)) break
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
  return Buffer.concat(parts)
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
  return viaSocket(port)
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
  return viaSocket(await serveOn(name, world))
}
