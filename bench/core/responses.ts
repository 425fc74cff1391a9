import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import type { Comparison } from './comparison.ts'

/** A constant clock, so that nothing is refreshed: a Friday evening in Frankfurt. */
export const NOW: number = Date.UTC(2026, 10, 20, 18)

const LATEST = '/api/v1/latest?base=EUR'
const HISTORY = '/api/v1/history?from=USD&to=JPY&period=5Y'

/** Compares cached responses, as a `Response` and as data, with the construction of the same `Response`. */
export async function cachedResponses(): Promise<Comparison[]> {
  const handler = createHandler()
  const latest = await cached(handler, LATEST)
  const history = await cached(handler, HISTORY)
  return [
    {
      name: 'latest, cached: `handler(request)`',
      ours: latest.whole,
      reference: latest.reference,
      goal: 1.3,
    },
    {
      name: 'latest, cached: `handler.answer()`',
      ours: latest.data,
      reference: latest.reference,
    },
    {
      name: 'history 5Y, cached: `handler(request)`',
      ours: history.whole,
      reference: history.reference,
    },
    {
      name: 'history 5Y, cached: `handler.answer()`',
      ours: history.data,
      reference: history.reference,
    },
  ]
}

/** Compares a conversion of an amount that is not cached, as data, with the construction of its `Response`. */
export async function freshConversion(): Promise<Comparison> {
  const handler = createHandler()
  const path = '/api/v1/convert?from=USD&to=JPY&amount='
  const { reference } = await cached(handler, `${path}1.25`)
  let amount = 0
  return {
    name: 'conversion, computed: `handler.answer()`',
    ours: () => handler.answer(request(`${path}${(amount += 1)}.25`)),
    reference,
    goal: 0.6,
  }
}

interface Cached {
  whole: () => Promise<Response>
  data: () => Promise<unknown>
  reference: Comparison['reference']
}

async function cached(handler: RatesHandler, target: string): Promise<Cached> {
  const fetchRequest = new Request(`http://localhost${target}`)
  await handler(fetchRequest)
  // These are the headers of a cached response.
  const response = await handler(fetchRequest)
  if (response.status !== 200) throw new Error(`${target} has the status ${response.status}`)
  const headers = Object.fromEntries(response.headers)
  const bytes = new Uint8Array(await response.arrayBuffer())
  return {
    whole: () => handler(fetchRequest),
    data: async () => handler.answer(request(target)),
    reference: {
      name: `\`new Response\` of ${bytes.byteLength.toLocaleString('en')} bytes`,
      run: () => new Response(bytes, { headers }),
    },
  }
}

function createHandler(): RatesHandler {
  return createRatesHandler({ providers: fakeProviders(), now: () => NOW })
}

export function request(target: string): Parameters<RatesHandler['answer']>[0] {
  return { method: 'GET', target, header: () => undefined }
}
