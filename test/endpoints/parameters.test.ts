import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { expand } from '../catalogue/catalogue.ts'
import { withFacts } from '../fixtures/facts.ts'
import { openMarket } from '../fixtures/hand-written-market.ts'
import { longService } from '../fixtures/long-market.ts'

const PAIR = 'from=USD&to=EUR'

/** A request below `/api/v1/` that is refused: over no rates, few of them, or many. */
interface Refusal {
  rates: 'none' | 'few' | 'many'
  target: string
  status: number
  code: string
  /** Facts of the message; openapi/responses.test.ts tries values of all parameters against the document. */
  facts: string
}

const REFUSALS = readFileSync(new URL('refusals.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Refusal => JSON.parse(line))

describe('a parameter', () => {
  it.each<[target: string, field: string, value: unknown]>([
    ['latest?symbols=%20,,%20%20,%20', 'rates', ['USD', 'EUR', 'JPY', 'KWD', 'SLL']],
    [`latest?symbols=${listOf(250, 2_048)}`, 'rates', ['EUR']],
    [`convert?from=USD&to=${listOf(250, 2_048)}`, 'results', ['EUR']],
    [`convert?${PAIR}&reverse=false`, 'reverse', undefined],
  ])('is parsed from /api/v1/%s: %s is %j', async (target, field, expected) => {
    const response = await openMarket().get(`/v1/${target}`)
    expect(response.status).toBe(200)
    const value = (await response.json())[field]
    expect(Array.isArray(expected) ? Object.keys(value) : value).toEqual(expected)
  })
})

describe('an invalid request', () => {
  // Those over no rates are refused before any data is loaded.
  it.each(REFUSALS)('$target with $rates rates is $status $code: $facts', async (refusal) => {
    const { rates, target, status, code, facts } = refusal
    const market = openMarket()
    const { handler } = rates === 'many' ? longService() : market
    const response = await handler(new Request(`http://localhost/api/v1/${expand(target)}`))
    const { headers } = response
    const text = await response.text()
    const { error } = JSON.parse(text)
    expect([response.status, error.code]).toEqual([status, code])
    expect(error.message).toMatch(withFacts(facts))
    expect(text.length).toBeLessThan(1_024)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(rates === 'none' ? market.calls : []).toEqual([])
  })

  it.each([
    ['convert?from=USD&to=EUR,', 'Invalid to currency: EUR,'],
    ['rates?format=CSV', 'Invalid parameter: format'],
  ])('/api/%s has an unversioned error before any data is loaded: %s', async (target, error) => {
    const { calls, get } = openMarket()
    const response = await get(`/${target}`)
    expect([response.status, await response.json(), calls]).toEqual([400, { error }, []])
  })
})

/** Returns a list of `count` codes, padded with spaces to `characters`. */
function listOf(count: number, characters: number): string {
  const list = Array.from({ length: count }, () => 'EUR').join()
  return list + '%20'.repeat(characters - list.length)
}
