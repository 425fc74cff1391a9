import { describe, expect, it } from 'vitest'

import { pathOf, snippetOf } from '../../src/explorer/question.ts'
import type { Question } from '../../src/explorer/question.ts'
import { fragmentOf, parseView } from '../../src/explorer/view.ts'

const asking = (amount: string): Question => ({
  operation: 'convert',
  parameters: { from: 'USD', to: 'EUR', amount },
})

describe('a question', () => {
  it('has a path below the base path, with what was typed', () => {
    expect(pathOf('/api', asking('1 &2'))).toBe('/api/v1/convert?from=USD&to=EUR&amount=1+%262')
  })

  it('is a command for a shell that ends where it should', () => {
    const url = pathOf('http://a.example', asking("1'; ls '"))
    expect(snippetOf('curl', 'http://a.example', asking("1'; ls '"))).toBe(`curl '${url}'`)
    expect(url).not.toContain("'")
    expect(snippetOf('curl', "http://a.example/it's", asking('1'))).toMatch(
      /^curl 'http:\/\/a\.example\/it%27s\/v1\/[^']+'$/,
    )
  })

  it.each([
    ['100', '100'],
    [' 1e3 ', '1000'],
    ['.5', '0.5'],
    ['', "''"],
    ["it's", "'it\\'s'"],
    ['"\\', "'\"\\\\'"],
  ])('of the amount %j has the argument %s', (typed, argument) => {
    expect(snippetOf('client', 'http://a.example/api', asking(typed))).toContain(
      `.convert({ from: 'USD', to: 'EUR', amount: ${argument} })`,
    )
  })
})

describe('a view', () => {
  it('comes back out of its fragment', () => {
    const view = { amount: '1 &2', from: 'CHF', to: 'JPY', base: 'GBP', period: '5Y' }
    expect(parseView(fragmentOf(view))).toEqual(view)
  })

  it('has codes in capitals, and a start for what is missing', () => {
    expect(parseView('#from=chf')).toEqual({ ...parseView(''), from: 'CHF' })
  })
})
