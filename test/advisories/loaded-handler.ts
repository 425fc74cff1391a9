import { afterAll, beforeAll } from 'vitest'

import { createHandlerOn } from '../../src/handler.ts'
import type { RatesHandler, RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, send } from '../catalogue/catalogue.ts'
import type { RequestData, ResponseData } from '../catalogue/catalogue.ts'
import { operations } from '../openapi/document.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

/** Every endpoint of the OpenAPI document, with its parameter names and a target with status 200. */
export const ENDPOINTS = operations.map(({ path, parameters }) => {
  const required = parameters.filter((parameter) => parameter.required)
  const query = new URLSearchParams(required.map(({ name, example }) => [name, String(example)]))
  const target = `/api${path}${required.length > 0 ? `?${query}` : ''}`
  return { path: `/api${path}`, parameters: parameters.map(({ name }) => name), target }
})

/** A text that no response contains by chance. */
export const NONCE = 'n0nce7f3a9c'

/** One synthetic market for all handlers of a file, because creating a market is slow. */
const market = fakeProviders({ now: () => NOW })

/** Creates a handler without data, with a clock that stands still at `start`. */
export function createStillHandler(options: RatesHandlerOptions, start = NOW): RatesHandler {
  const runtime = virtualRuntime(start)
  const quotes = { secrets: ['a secret of at least thirty-two bytes'] }
  return createHandlerOn(() => runtime, { now: runtime.now, quotes, ...options })
}

/**
 * Creates a handler with the data of the synthetic market and a clock that stands still: handlers with the same options
 * return equal responses.
 */
export async function loadedHandler(options: RatesHandlerOptions = {}): Promise<RatesHandler> {
  const handler = createStillHandler({ providers: market, ...options })
  await handler.refresh()
  return handler
}

export function providersThat(work: () => Promise<never>): RatesHandlerOptions['providers'] {
  const { latest, history } = market
  return {
    latest: { ...latest, fetchLatest: work },
    history: { ...history, fetchHistory: work },
  }
}

type Ask = (
  handler: RatesHandler,
  target: string,
  headers?: RequestData['headers'],
) => Promise<ResponseData>

export const get: Ask = async (handler, target, headers) =>
  withoutId(await send(handler, { method: 'GET', target, headers }, 'answer'))

export const fetchFrom: Ask = async (handler, target, headers) =>
  withoutId(await send(handler, { method: 'GET', target, headers }))

/** Quotes differ in their ids alone. */
export function withoutId(response: ResponseData): ResponseData {
  const body = response.body.replace(/"jti":.*"quote":"[^"]*"/, '"quote":""')
  return { ...response, body }
}

/** Collects unhandled rejections and uncaught exceptions, which would end a Node process, until the suite ends. */
export function watchEscapes(): readonly unknown[] {
  const escaped: unknown[] = []
  const note = (thrown: unknown): void => void escaped.push(thrown)
  const kinds = ['unhandledRejection', 'uncaughtException'] as const
  beforeAll(() => kinds.forEach((kind) => process.on(kind, note)))
  afterAll(() => kinds.forEach((kind) => process.off(kind, note)))
  return escaped
}

/** Resolves after the runtime has reported the rejections so far, which happens after all promise callbacks. */
export async function turnOfLoop(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1))
}
