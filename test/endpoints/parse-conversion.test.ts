import { describe, expect, it } from 'vitest'

import { parseConversion } from '../../src/endpoints/parse-conversion.ts'

describe('the query of a conversion', () => {
  it.each([
    ['from=EUR&to=usd', { from: 'EUR', to: 'usd', amount: undefined }, undefined],
    ['to=USD&from=EUR&amount=1.50', { from: 'EUR', to: 'USD', amount: 1.5 }, '1.50'],
    ['from=EUR&to=USD&amount=0', { from: 'EUR', to: 'USD', amount: 0 }, '0'],
    ['amount=%31e2&from=EUR&to=USD&theme=dark', { from: 'EUR', to: 'USD', amount: 100 }, '1e2'],
  ])('is read: %s', (query, question, amountSent) => {
    expect(parseConversion(query)).toEqual({ question, amountSent })
  })

  it.each([
    ['', 'Missing required parameter: from'],
    ['to=USD&amount=x', 'Missing required parameter: from'],
    ['from=EUR', 'Missing required parameter: to'],
    ['from=EURO&to=US', 'Invalid from currency: EURO'],
    ['from=EUR&to=US&amount=1', 'Invalid to currency: US'],
    ['from=EUR&to=USD&amount=', 'Invalid amount: '],
    ['from=EUR&to=USD&amount=1,5', 'Invalid amount: 1,5'],
    ['from=EUR&to=USD&Amount=1', 'Invalid parameter: Amount (write amount)'],
  ])('of %j is refused', (query, message) => {
    expect(() => parseConversion(query)).toThrow(expect.objectContaining({ message }))
  })
})
