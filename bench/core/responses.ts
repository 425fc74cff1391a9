import { createRatesHandler } from 'ratesmith'
import type { LatestRates, RatesHandler, RawResponse } from 'ratesmith'
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

/** Compares conversions of amounts that are not cached with the same conversions by hand, as data and as a `Response`. */
export async function freshConversions(): Promise<Comparison[]> {
  const handler = createHandler()
  const target = (amount: number): string => `/api/v1/convert?from=USD&to=JPY&amount=${amount}.25`
  const { headers, body } = await handler.answer(request(target(1_234_567)))
  const convert = conversionsByHand(await handler.rates.latest({ base: 'USD' }), headers)
  if (body !== convert(target(1_234_567)).body) throw new Error('the bodies differ')
  const url = 'http://localhost'
  let amount = 0
  const next = (): string => target((amount += 1))
  return [
    {
      name: 'conversion, computed: `handler(request)`',
      ours: () => handler(new Request(url + next())),
      reference: {
        name: 'parsed, multiplied and written by hand, as a `Response`',
        run: () => {
          const { headers: own, body: text } = convert(new Request(url + next()).url)
          return new Response(text, { headers: own })
        },
      },
      goal: 1.5,
    },
    {
      name: 'conversion, computed: `handler.answer()`',
      ours: () => handler.answer(request(next())),
      reference: { name: 'parsed, multiplied and written by hand', run: () => convert(next()) },
      goal: 1.5,
    },
  ]
}

interface ByHand {
  headers: [name: string, value: string][]
  body: string
}

/**
 * The least that a program needs to send the same body and headers: it knows the form of the query, checks nothing, and its
 * amounts have two decimals, so that whole numbers give the exact product.
 */
function conversionsByHand(
  { rates, updatedAt, source }: LatestRates,
  headers: RawResponse['headers'],
): (target: string) => ByHand {
  const others = headers
    .filter(([name]) => name !== 'etag' && name !== 'content-length')
    .map(([name, value]): [string, string] => [name, value])
  const tail = `,"updatedAt":${updatedAt},"source":${JSON.stringify(source)}}`
  return (target) => {
    const found = /from=(?<from>...)&to=(?<to>...)&amount=(?<amount>.+)/.exec(target)
    const { from = '', to = '', amount = '' } = found?.groups ?? {}
    const rate = rates[to] ?? NaN
    const digits = String(rate)
    const decimals = digits.length - 1 - digits.indexOf('.')
    const product = BigInt(amount.replace('.', '')) * BigInt(digits.replace('.', ''))
    const result = Number(`${product}e-${decimals + 2}`)
    const body = `{"from":"${from}","to":"${to}","amount":${Number(amount)},"rate":${rate},"result":${result}${tail}`
    let hash = 0
    for (let index = 0; index < body.length; index += 1) {
      hash = Math.imul(hash ^ body.charCodeAt(index), 0x01000193)
    }
    const length = String(body.length)
    return { headers: [...others, ['etag', `"${hash}"`], ['content-length', length]], body }
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
