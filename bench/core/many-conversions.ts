import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { DAY_MS } from '../../src/rates/dates.ts'
import type { Comparison } from './comparison.ts'
import { NOW } from './responses.ts'

const ROWS = 10_000
const FIRST_DAY = Date.UTC(1999, 1, 1)
const DAYS = 10_100

const CODES = 'USD EUR GBP JPY CHF SEK NOK PLN CZK HUF AUD CAD NZD ZAR INR'.split(' ')

/** Returns rows of mixed pairs, most of them on days since 1999, always the same. */
function createRows(): object[] {
  let state = 22
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * limit)
  }
  return Array.from({ length: ROWS }, () => {
    const date = new Date(FIRST_DAY + below(DAYS) * DAY_MS).toISOString().slice(0, 10)
    const pair = { from: CODES[below(CODES.length)], to: CODES[below(CODES.length)] }
    return { ...(below(10) > 0 && { date }), ...pair, amount: below(1_000_000) / 100 }
  })
}

/**
 * Compares `POST /v1/convert` of 10,000 rows with reading and writing the same JSON: its whole time, and its longest block of
 * the event loop.
 */
export async function manyConversions(): Promise<Comparison[]> {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => NOW })
  const text = JSON.stringify(createRows())
  const bytes = new TextEncoder().encode(text)
  const request = {
    method: 'POST',
    target: '/api/v1/convert',
    header: (name: string) => (name === 'content-type' ? 'application/json' : undefined),
    readBody: async (onChunk: (chunk: Uint8Array) => void) => onChunk(bytes),
  }
  const { status, body } = await handler.answer(request)
  if (status !== 200 || !(body instanceof Uint8Array)) throw new Error(`status ${status}`)
  const results: unknown = JSON.parse(new TextDecoder().decode(body))
  const reference = {
    name: '`JSON.parse` of the rows and `JSON.stringify` of the results',
    run: () => [JSON.parse(text), JSON.stringify(results)],
  }
  const ours = () => handler.answer(request)
  const name = `${ROWS.toLocaleString('en')} conversions: \`POST /v1/convert\``
  return [
    { name, ours, reference, goal: 5 },
    {
      name: `${name}, longest block of the event loop`,
      ours,
      reference,
      goal: 1,
      measures: 'loop-delay',
    },
  ]
}
