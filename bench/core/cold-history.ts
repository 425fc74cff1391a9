import { deepEqual } from 'node:assert/strict'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { NOW, request } from './responses.ts'
import type { Comparison } from './comparison.ts'

/** How many pairs are asked for in turn. */
const PAIRS = 40

/** A history of five years of pairs in turn, nothing of it remembered, beside `JSON.stringify` of the same points. */
export async function coldHistories(): Promise<Comparison[]> {
  const handler = createRatesHandler({
    providers: fakeProviders(),
    now: () => NOW,
    responseCacheBytes: 0,
  })
  const codes = await coveredCodes(handler)
  const pick = (index: number): string => codes[index % codes.length] ?? ''
  const turns = Array.from({ length: PAIRS }, (_, index) => index)
  const crosses = turns.map((index) => [pick(index), pick(index * 3 + 7)] as const)
  const euros = turns.map((index) =>
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

/** All but the euro, which the others are published against. */
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
  for (const [index, asked] of requests.entries()) {
    const { body } = await handler.answer(asked)
    const sent: unknown = JSON.parse(
      typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined),
    )
    deepEqual(Object(sent).points, points[index])
  }
  const [nextRequest, nextPoints] = [inTurn(requests), inTurn(points)]
  return {
    name: `history 5Y of pairs ${kind}, computed: \`handler.answer()\``,
    ours: () => handler.answer(nextRequest()),
    reference: { name: '`JSON.stringify` of the points', run: () => JSON.stringify(nextPoints()) },
    goal: 1,
  }
}

/** A function that returns each of `items` in turn, over and over. */
function inTurn<Item>(items: readonly Item[]): () => Item {
  let turn = -1
  return () => {
    turn = (turn + 1) % items.length
    const item = items[turn]
    if (item === undefined) throw new RangeError('there is nothing to take in turn')
    return item
  }
}
