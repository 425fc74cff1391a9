import { createHash } from 'node:crypto'

import { onTestFinished, vi } from 'vitest'

import { createAccess, createKey, hashKey } from '../../src/access/index.ts'
import type { AccessOptions, KeyRecord } from '../../src/access/index.ts'
import { isStreamed } from '../../src/core.ts'
import type { RatesEvent, RatesHandlerOptions, RawResponse } from '../../src/index.ts'
import { openService } from '../fixtures/service.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import { bodyInOnePart, wholeBody } from '../whole-body.ts'

export const PLANS = {
  public: '5/min',
  pro: '20/min, 100/month',
} as const

/** A request for `send`: its target below `/api`, and what is not the default. */
export interface Sent {
  target?: string
  method?: string
  headers?: Readonly<Record<string, unknown>>
  client?: string | undefined
  signal?: AbortSignal
  body?: string
}

export function openGuarded(
  access: Partial<AccessOptions> = {},
  options: RatesHandlerOptions & { start?: number } = {},
) {
  const service = openService({
    ...options,
    access: createAccess({ plans: PLANS, anonymous: 'public', ...access }),
  })
  return { ...service, ...sendersTo(service.handler) }
}

export interface Asked {
  headers?: Readonly<Record<string, string>> | undefined
  query?: string
  client?: string | undefined
  cost?: number
  /** What it costs in the end (default `cost`). */
  spent?: number
  status?: number
  isPublic?: boolean
}

export function openGuard(access: Partial<AccessOptions> = {}, start = Date.UTC(2026, 10, 20)) {
  const runtime = virtualRuntime(start)
  const events: RatesEvent[] = []
  const guard = createAccess({ plans: PLANS, anonymous: 'public', ...access }).createGuard({
    runtime,
    emit: (event) => void events.push(event),
    proxies: {},
    isParameter: () => false,
  })
  return {
    runtime,
    events,
    guard,
    async ask({ headers = {}, query = '', client, cost = 1, ...ended }: Asked = {}) {
      const { spent = cost, status = 200, isPublic = false } = ended
      const header = (name: string) => headers[name]
      const request = { method: 'GET', target: '/api/v1/latest', header, client }
      const admission = await guard.admit({ request, query, cost })
      const { refusal } = admission
      const response = admission.finish(
        {
          status: refusal?.status ?? status,
          headers: [['cache-control', isPublic ? 'public, max-age=60' : 'no-store']],
          body: null,
        },
        refusal ? 0 : spent,
      )
      return { ...response, ...readable(response), refusal }
    },
  }
}

/** Opens a service with one key `acme` of the plan `pro`, for which requests without a key are refused. */
export async function openWithKey(record: object = {}, options: Partial<AccessOptions> = {}) {
  const { store, keys, found, replace } = await recordedStore([
    { id: 'acme', plan: 'pro', ...record },
  ])
  const [key = ''] = keys
  const service = openGuarded({ keys: store, anonymous: 'refuse', ...options })
  await service.runtime.advance(0)
  return { ...service, store, key, found, replace }
}

export function sendersTo(handler: Pick<ReturnType<typeof openService>['handler'], 'answer'>) {
  async function send({
    target = '/v1/latest?base=EUR',
    method = 'GET',
    headers = {},
    client,
    body,
  }: Sent = {}) {
    const response = await handler.answer({
      method,
      target: `/api${target}`,
      // @ts-expect-error a header must be a string
      header: (name) => headers[name],
      client,
      async readBody(onChunk) {
        onChunk(new TextEncoder().encode(body ?? ''))
      },
    })
    const { body: sent } = response
    const received = { ...response, body: isStreamed(sent) ? await wholeBody(sent) : sent }
    return { ...received, ...readable(received) }
  }
  return {
    send,
    statusWith: async (key: string, sent: Sent = {}) =>
      (await send({ ...sent, headers: { 'x-api-key': key, ...sent.headers } })).status,
  }
}

function readable({ headers, body }: Pick<RawResponse, 'headers' | 'body'>) {
  return {
    header: (name: string): string | undefined => {
      const values = headers.filter(([each]) => each === name).map(([, value]) => value)
      return values.length > 0 ? values.join(', ') : undefined
    },
    text:
      body instanceof Uint8Array
        ? new TextDecoder().decode(body)
        : String(bodyInOnePart(body) ?? ''),
  }
}

/** A key store whose `find` can be replaced, with one key for each record; counts its calls. */
export async function recordedStore(records: readonly Partial<Record<keyof KeyRecord, unknown>>[]) {
  const keys: string[] = []
  const byHash = new Map<string, unknown>()
  for (const record of records) {
    const { key, hash } = await createKey()
    keys.push(key)
    byHash.set(hash, record)
  }
  const found: string[] = []
  const store = {
    /** Replaces the result, where it returns something. */
    override: undefined as undefined | ((hash: string) => unknown),
    find(hash: string): KeyRecord | undefined {
      found.push(hash)
      const result = store.override ? store.override(hash) : byHash.get(hash)
      // @ts-expect-error in some tests the store breaks its contract
      return result
    },
  }
  return {
    store,
    keys,
    found,
    replace: async (key: string, record: unknown) => void byHash.set(await hashKey(key), record),
  }
}

/** Computes hashes at once until the end of the test: in other threads, they would take real time. */
export function hashAtOnce(): void {
  const { subtle } = globalThis.crypto
  const digest = vi.spyOn(subtle, 'digest').mockImplementation(async (_, data) => {
    const bytes = new Uint8Array(data instanceof ArrayBuffer ? data : data.buffer)
    return new Uint8Array(createHash('sha256').update(bytes).digest()).buffer
  })
  onTestFinished(() => digest.mockRestore())
}

export function limitIn(field: string | undefined, name: string): { r: number; t: number } {
  const [, r = NaN, t = NaN] = new RegExp(`"${name}";r=(\\d+);t=(\\d+)`).exec(field ?? '') ?? []
  return { r: Number(r), t: Number(t) }
}
