import { deepEqual } from 'node:assert/strict'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import type { Comparison } from './comparison.ts'
import { NOW, request } from './responses.ts'

const PAIRS = 40

/** Compares an uncached five-year history, of alternating pairs, with `JSON.stringify` of the same points. */
export async function coldHistories(): Promise<Comparison[]> {
  const handler = createRatesHandler({
    providers: fakeProviders(),
    now: () => NOW,
    responseCacheBytes: 0,
  })
  const codes = await coveredCodes(handler)
  const pick = (index: number): string => codes[index % codes.length] ?? ''
  const indexes = Array.from({ length: PAIRS }, (_, index) => index)
  const crosses = indexes.map((index) => [pick(index), pick(index * 3 + 7)] as const)
  const euros = indexes.map((index) =>
    index % 2 === 0 ? (['EUR', pick(index)] as const) : ([pick(index), 'EUR'] as const),
  )
  return [
    await comparison(
      handler,
      'without EUR',
      crosses.filter(([from, to]) => from !== to),
    ),
    await comparison(handler, 'with EUR', euros),
  ]
}

/** Returns all codes of the reference rates, except the euro, which they are quoted against. */
async function coveredCodes({ rates }: RatesHandler): Promise<string[]> {
  const { rates: table } = await rates.latest({ base: 'EUR' })
  const known = await Promise.allSettled(
    Object.keys(table).map(async (code) => (await rates.history({ from: 'EUR', to: code })).to),
  )
  return known.flatMap((each) =>
    each.status === 'fulfilled' && each.value !== 'EUR' ? [each.value] : [],
  )
}

async function comparison(
  handler: RatesHandler,
  kind: string,
  pairs: readonly (readonly [from: string, to: string])[],
): Promise<Comparison> {
  const requests = pairs.map(([from, to]) =>
    request(`/api/v1/history?from=${from}&to=${to}&period=5Y`),
  )
  const points = await Promise.all(
    pairs.map(
      async ([from, to]) => (await handler.rates.history({ from, to, period: '5Y' })).points,
    ),
  )
  for (const [index, pairRequest] of requests.entries()) {
    const { body } = await handler.answer(pairRequest)
    const sent: unknown = JSON.parse(
      typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined),
    )
    deepEqual(Object(sent).points, points[index])
  }
  const [nextRequest, nextPoints] = [cycle(requests), cycle(points)]
  return {
    name: `history 5Y of pairs ${kind}, computed: \`handler.answer()\``,
    ours: () => handler.answer(nextRequest()),
    reference: { name: '`JSON.stringify` of the points', run: () => JSON.stringify(nextPoints()) },
    goal: 1,
  }
}

function cycle<Item>(items: readonly Item[]): () => Item {
  let position = -1
  return () => {
    position = (position + 1) % items.length
    const item = items[position]
    if (item === undefined) throw new RangeError('cannot cycle through an empty list')
    return item
  }
}
