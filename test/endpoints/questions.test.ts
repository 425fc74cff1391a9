import { describe, expect, it } from 'vitest'

import { openMarket } from '../fixtures/hand-written-market.ts'

const PAIR = 'from=EUR&to=USD'
const CONVERSION = `v1/convert?${PAIR}`
const HISTORY = `v1/history?${PAIR}`

const { get, handler, json } = openMarket()

// What few ask for is loaded when it is first asked for: here, and not in one test or another.
await Promise.all([json(`/${CONVERSION},JPY`), json(`/${HISTORY}&interval=day`)])

/** What is said of a question that is refused, without a call upstream. */
async function refusalOf(target: string): Promise<unknown> {
  const cold = openMarket()
  const response = await cold.get(`/${target}`)
  const { error } = await response.json()
  expect([response.status, cold.asked]).toEqual([400, []])
  return error.message
}

/** `target` with `text` as one more parameter, whose name is left out where it is to have none. */
function withParameter(target: string, name: string, text: string | undefined): string {
  if (text === undefined) return target
  return `${target}${target.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(text)}`
}

/** A list of `count` codes, padded with spaces to `length` characters. */
function listOf(codes: number, characters: number): string {
  return Array.from({ length: codes }, () => 'EUR')
    .join()
    .padEnd(characters)
}

describe('a parameter', () => {
  const ALL = ['USD', 'EUR', 'JPY', 'KWD', 'SLL']

  it.each<[target: string, name: string, text: string | undefined, field: string, told: unknown]>([
    ['v1/latest', 'base', undefined, 'base', 'USD'],
    ['v1/latest', 'base', 'eUr', 'base', 'EUR'],
    ['rates', 'base', 'eUr', 'base', 'EUR'],
    ['v1/latest', 'symbols', undefined, 'rates', ALL],
    ['v1/latest', 'symbols', '', 'rates', ALL],
    ['v1/latest', 'symbols', ' ,,  , ', 'rates', ALL],
    ['v1/latest', 'symbols', 'EUR', 'rates', ['EUR']],
    ['v1/latest', 'symbols', ' EUR,  usd  ,,JPY,', 'rates', ['USD', 'EUR', 'JPY']],
    ['v1/latest', 'symbols', listOf(250, 2_048), 'rates', ['EUR']],
    ['v1/latest', 'date', undefined, 'date', undefined],
    ['v1/latest', 'date', '2026-11-20', 'date', '2026-11-20'],
    ['v1/convert?from=USD', 'to', 'eUr', 'to', 'EUR'],
    ['v1/convert?from=USD', 'to', 'EUR,', 'results', ['EUR']],
    ['v1/convert?from=USD', 'to', ' EUR,usd ,,', 'results', ['EUR', 'USD']],
    ['v1/convert?from=USD', 'to', listOf(250, 2_048), 'results', ['EUR']],
    [CONVERSION, 'amount', undefined, 'amount', 1],
    [CONVERSION, 'amount', '1.50', 'amount', 1.5],
    [`${CONVERSION}&theme=dark`, 'amount', '1e2', 'amount', 100],
    [CONVERSION, 'reverse', undefined, 'reverse', undefined],
    [CONVERSION, 'reverse', 'true', 'reverse', true],
    [CONVERSION, 'reverse', 'false', 'reverse', undefined],
    [HISTORY, 'period', undefined, 'period', '1M'],
    [HISTORY, 'period', '1W', 'period', '1W'],
    [HISTORY, 'period', '5Y', 'period', '5Y'],
    [HISTORY, 'interval', undefined, 'interval', undefined],
    [HISTORY, 'interval', 'day', 'interval', 'day'],
    [HISTORY, 'interval', 'week', 'interval', 'week'],
    [HISTORY, 'interval', 'month', 'interval', 'month'],
    [`${HISTORY}&period=1Y`, 'interval', 'month', 'period', '1Y'],
    [HISTORY, 'start', '2026-11-19', 'start', '2026-11-19'],
    [HISTORY, 'start', '2026-11-19', 'end', '2026-11-20'],
    [`${HISTORY}&start=2026-11-19`, 'end', '2026-11-19', 'end', '2026-11-19'],
    [`${HISTORY}&start=2026-11-19&interval=day`, 'end', '2026-11-20', 'interval', 'day'],
    [HISTORY, 'format', 'json', 'period', '1M'],
  ])('of %s is read: %s=%j as %s %j', async (target, name, text, field, told) => {
    const response = await get(`/${withParameter(target, name, text)}`)
    expect(response.status).toBe(200)
    const value = (await response.json())[field]
    expect(Array.isArray(told) ? Object.keys(value) : value).toEqual(told)
  })

  it.each([
    ['v1/latest', 'base,code,rate'],
    ['rates', 'base,code,rate'],
    [HISTORY, 'from,to,date,rate'],
  ])('asks for CSV of %s', async (target, head) => {
    const response = await get(`/${withParameter(target, 'format', 'csv')}`)
    expect(await response.text()).toContain(head)
  })

  const LONG = '(at most 250 codes in 2048 characters)'

  it.each<[target: string, name: string, text: string | undefined, message: string]>([
    ['v1/latest', 'base', '', 'Invalid base currency: '],
    ['v1/latest', 'base', 'E1R', 'Invalid base currency: E1R'],
    ['v1/latest', 'symbols', 'EUR,EURO,US', 'Invalid symbols currency: EURO'],
    ['v1/latest', 'symbols', 'EUR,\tUSD', 'Invalid symbols currency: \\u{9}USD'],
    ['v1/latest', 'symbols', '  a  b  ,', 'Invalid symbols currency: a  b'],
    ['v1/latest', 'symbols', ', b ,\u00a0c', 'Invalid symbols currency: b'],
    ['v1/latest', 'symbols', listOf(251, 1_003), `Invalid parameter: symbols ${LONG}`],
    ['v1/latest', 'symbols', listOf(250, 2_049), `Invalid parameter: symbols ${LONG}`],
    ['v1/latest', 'symbols', `EURO,${listOf(1, 2_044)}`, `Invalid parameter: symbols ${LONG}`],
    ['v1/latest', 'date', '2026-02-29', 'Invalid parameter: date (YYYY-MM-DD)'],
    ['v1/convert', 'to', 'USD', 'Missing required parameter: from'],
    ['v1/convert?to=USD', 'amount', 'x', 'Missing required parameter: from'],
    ['v1/convert?from=EUR&reverse=true', 'to', undefined, 'Missing required parameter: to'],
    ['v1/convert?from=EURO', 'to', 'US', 'Invalid from currency: EURO'],
    ['v1/convert?from=EUR', 'to', 'US', 'Invalid to currency: US'],
    ['v1/convert?from=EUR&reverse=true', 'to', ' EUR', 'Invalid to currency:  EUR'],
    ['v1/convert?from=EUR', 'to', ', ,', 'Invalid to currency: , ,'],
    ['v1/convert?from=EUR', 'to', 'EUR,EURO,US', 'Invalid to currency: EURO'],
    ['v1/convert?from=EUR', 'to', listOf(251, 1_003), `Invalid parameter: to ${LONG}`],
    ['v1/convert?from=EUR', 'to', listOf(250, 2_049), `Invalid parameter: to ${LONG}`],
    ['v1/convert?from=EUR', 'to', `EURO,${listOf(1, 2_044)}`, `Invalid parameter: to ${LONG}`],
    [CONVERSION, 'amount', '', 'Invalid amount: '],
    [CONVERSION, 'amount', '1,5', 'Invalid amount: 1,5'],
    [CONVERSION, 'Amount', '1', 'Invalid parameter: Amount (write amount)'],
    [CONVERSION, 'reverse', 'yes', 'Invalid parameter: reverse (true or false)'],
    ['v1/history', 'to', 'USD', 'Missing required parameter: from'],
    ['v1/history?from=EUR', 'to', undefined, 'Missing required parameter: to'],
    ['v1/history?to=USD', 'from', 'EURO', 'Invalid from currency: EURO'],
    [HISTORY, 'period', '1w', 'Invalid period: 1w (one of 1W, 1M, 3M, 6M, 1Y, 5Y)'],
    [HISTORY, 'start', 'today', 'Invalid parameter: start (YYYY-MM-DD)'],
    [HISTORY, 'end', '2026-11-31', 'Invalid parameter: end (YYYY-MM-DD)'],
    [HISTORY, 'end', '2026-11-20', 'Missing required parameter: start'],
    [HISTORY, 'date', '2026-11-20', 'Invalid parameter: date (use start and end)'],
    [HISTORY, 'interval', 'year', 'Invalid parameter: interval (day, week or month)'],
    [HISTORY, 'format', 'xml', 'Invalid parameter: format (json or csv)'],
    [`${HISTORY}&period=&start=&end=&interval=`, 'format', '', 'Invalid period:  (one of'],
    ...['start', 'end'].map((name): [string, string, string, string] => {
      const message = 'Invalid parameter: period (either a period, or start and end)'
      return [`${HISTORY}&period=1Y`, name, '2026-11-20', message]
    }),
    [
      ...([`${HISTORY}&start=2026-11-20`, 'end', '2026-11-19'] as const),
      'Invalid parameter: start (not after end)',
    ],
    ['v1/latest', 'from', 'EUR', 'Invalid parameter: from (use base)'],
  ])('of %s is refused: %s=%j', async (target, name, text, message) => {
    expect(await refusalOf(withParameter(target, name, text))).toContain(message)
  })
})

describe.each([CONVERSION, `${CONVERSION}&reverse=true`])('an amount of %s', (target) => {
  const ACCEPTED =
    '0 7 12 100 1.5 12.34 .5 .25 007 0.0 1e3 1E3 1e+3 1e-3 12e10 1.5e10 .5e-7 0e5 0.0e999 0E5 5e-324 1e306'

  const REFUSED =
    '. 1. 1.2.3 1..2 e3 1e 1e+ 1e+-3 1e3.5 e -1 +1 x1 1x 0x10 1_000 1,5 Infinity NaN ٣ ' +
    '1.x .x 1ex 1exx 1e309 1e-400 1E-400 0.1e-400 .001e-400 10e-400'

  it.each([...ACCEPTED.split(' '), '1'.padStart(64, '0')])('is %s', async (text) => {
    const { amount } = await json(`/${withParameter(target, 'amount', text)}`)
    expect(amount).toBe(Number(text))
  })

  it.each(['', ' ', ' 1', '1 ', '1\n', ...REFUSED.split(' '), '1'.padStart(65, '0')])(
    'is not %j',
    async (text) => {
      expect(await refusalOf(withParameter(target, 'amount', text))).toMatch(/^Invalid amount: /)
    },
  )
})

describe('a history that is remembered', () => {
  const ask = (query: string) => {
    return handler.answer({ method: 'GET', target: `/api/v1/history?${query}`, header: () => null })
  }

  it.each([
    'to=USD&from=EUR',
    'from=eur&to=usd',
    'from=%45UR&to=USD&theme=dark',
    `${PAIR}&period=1M`,
    `${PAIR}&format=json`,
  ])('is the same for %j', async (query) => {
    // The headers of what was loaded for a question are its own.
    await ask(PAIR)
    expect((await ask(query)).headers).toBe((await ask(PAIR)).headers)
  })

  it('is another for every other question', async () => {
    const days = ['start=2026-11-19', 'end=2026-11-19&start=2026-11-19', 'interval=week']
    const others = ['period=5Y', 'format=csv', 'interval=day', ...days]
    const queries = [
      PAIR,
      'from=USD&to=EUR',
      'from=EUR&to=JPY',
      'from=JPY&to=USD',
      ...others.map((other) => `${PAIR}&${other}`),
    ]
    const bodies = []
    for (const query of queries) bodies.push((await ask(query)).body)
    expect(new Set(bodies).size).toBe(queries.length)
    expect(await Promise.all(queries.map(async (query) => (await ask(query)).body))).toEqual(bodies)
  })
})
