import { describe, expect, it } from 'vitest'

import { createRatesClient } from '../../src/client/index.ts'
import { askCells, askClient, askFunction, askRow, askRowFunction, send } from './doors.ts'
import type { Answer, OperationName, Values } from './doors.ts'

// Questions of users that were once answered for another question, or refused without a word of help.

const PAIR = { from: 'USD', to: 'EUR' }
const IN_QUERY = 'from=USD&to=EUR'
const HUNDREDTHS = 'divide the amount by 100, and send the code of the whole unit'

function messageOf(answer: Answer): string {
  return String(Object(answer)['error']?.message ?? 'answered')
}

describe('a request', () => {
  it.each([
    // Market data write pence so.
    ['convert?from=GBp&to=GBP&amount=400', 'Invalid from currency: GBp', HUNDREDTHS],
    ['convert?from=GBP&to=GBp', 'Invalid to currency: GBp', HUNDREDTHS],
    ['convert?from=ZAc&to=ZAR', 'Invalid from currency: ZAc', HUNDREDTHS],
    ['convert?from=ILa&to=ILS', 'Invalid from currency: ILa', HUNDREDTHS],
    ['convert?from=GBX&to=GBP', 'Invalid from currency: GBX', HUNDREDTHS],
    ['convert?from=ILA&to=USD', 'Invalid from currency: ILA', HUNDREDTHS],
    ['convert?from=zac&to=USD', 'Invalid from currency: zac', HUNDREDTHS],
    ['convert?from=KWF&to=USD', 'Invalid from currency: KWF', 'divide the amount by 1000'],
    ['convert?from=USD&to=EUR,GBp', 'Invalid to currency: GBp', HUNDREDTHS],
    ['latest?base=GBp', 'Invalid base currency: GBp', HUNDREDTHS],
    ['latest?symbols=EUR,GBp', 'Invalid symbols currency: GBp', HUNDREDTHS],
    ['history?from=GBp&to=USD', 'Invalid from currency: GBp', HUNDREDTHS],
    // Copied from HTML or a feed.
    [`convert?${IN_QUERY}&amp;amount=100`, 'amp;amount', 'use amount'],
    ...'amout ammount'
      .split(' ')
      .map((name) => [`convert?${IN_QUERY}&${name}=100`, name, 'did you mean amount?']),
    ...'amt qty'.split(' ').map((name) => [`convert?${IN_QUERY}&${name}=100`, name, 'use amount']),
    ...'dates on at timestamp time as_of'.split(' ').flatMap((name) => [
      [`convert?${IN_QUERY}&${name}=2020-01-01`, name, 'use date'],
      [`latest?${name}=2020-01-01`, name, 'use date'],
    ]),
    [`convert?${IN_QUERY}&inverse=true`, 'inverse', 'use reverse'],
    [`convert?${IN_QUERY}&sources=ecb`, 'sources', 'use source'],
    [`convert?${IN_QUERY}&bank=nbp`, 'bank', 'use source'],
    [`convert?${IN_QUERY}&date=2026-11-12&provider=ecb`, 'provider', 'use source'],
    [`history?${IN_QUERY}&range=1Y`, 'range', 'use period'],
    [`history?${IN_QUERY}&days=7`, 'days', 'use period'],
    [`history?${IN_QUERY}&since=2026-01-01`, 'since', 'use start'],
    [`history?${IN_QUERY}&startPeriod=2026-01-01`, 'startPeriod', 'use start'],
    [`history?${IN_QUERY}&endPeriod=2026-01-01`, 'endPeriod', 'use end'],
    [`history?${IN_QUERY}&freq=month`, 'freq', 'use interval'],
    [`history?${IN_QUERY}&order=desc`, 'order', 'unknown; /v1/history takes from, to, period'],
    ...'codes code sym'.split(' ').map((name) => [`latest?${name}=EUR`, name, 'use symbols']),
    ['currencies?search=yen', 'search', 'unknown; /v1/currencies takes symbols, format'],
    ['currencies?code=EUR', 'code', 'use symbols'],
    ['sources?id=ecb', 'id', 'unknown; /v1/sources takes no parameters'],
    ['status?format=csv', 'format', 'unknown; /v1/status takes no parameters'],
    [
      `convert?${IN_QUERY}&amount=1,000`,
      'Invalid amount: 1,000',
      'digits and a point, such as 1000.50',
    ],
  ])('%s is refused: %s (%s)', async (target, subject, hint) => {
    const { status, text } = await send(`v1/${target}`)
    expect(status).toBe(400)
    const { message } = JSON.parse(text).error
    const start = subject?.startsWith('Invalid ') ? subject : `Invalid parameter: ${subject}`
    expect(message).toContain(`${start} (`)
    expect(message).toContain(hint)
    expect(message).not.toContain('GBP')
  })

  it.each(['GBp', 'GBX'])('with %s has no advice without a version', async (code) => {
    const { text } = await send(`convert?from=${code}&to=USD`)
    expect(JSON.parse(text)).toEqual({ error: `Invalid from currency: ${code}` })
  })

  it.each(['gbp', 'GBP', 'Gbp', 'gBP'])('with %s is about pounds', async (code) => {
    const { text } = await send(`v1/convert?from=${code}&to=GBP&amount=400`)
    expect(JSON.parse(text)).toMatchObject({ from: 'GBP', result: 400 })
  })

  it.each([
    ['from=USD&to=USD&amount=90071992547409.93&round=minor', '90071992547409.93'],
    ['from=USD&to=USD&amount=90071992547409.93&round=minor&reverse=true', '90071992547409.93'],
    ['from=USD&to=USD,EUR&amount=90071992547409.93&round=minor', '90071992547409.93'],
  ])('rounds the digits that it sent: %s', async (query, rounded) => {
    const { text } = await send(`v1/convert?${query}`)
    expect(text).toContain(`"rounded":"${rounded}"`)
    expect(text).toContain('"amount":90071992547409.94')
  })
})

it('the versioned root lists the endpoints, and a path that is none leads to it', async () => {
  const { endpoints, documentation } = JSON.parse((await send('v1')).text)
  expect(documentation).toMatch(/^https?:/)
  for (const [name, path] of Object.entries(endpoints)) {
    const { status } = await send(`${String(path).replace('/api/', '')}?from=USD&to=EUR`)
    expect([name, status]).not.toEqual([name, 404])
  }
  const { status, text } = await send('v1/rates')
  expect([status, JSON.parse(text).error.message]).toEqual([404, 'Not found (see /api/v1)'])
})

describe('an operation', () => {
  it.each<[name: OperationName, values: Values, message: string]>([
    ['convert', { ...PAIR, amuont: 100 }, 'Invalid parameter: amuont (did you mean amount?)'],
    ['convert', { ...PAIR, value: 100 }, 'Invalid parameter: value (use amount)'],
    ['history', { ...PAIR, format: 'csv' }, 'Invalid parameter: format (only for queries)'],
    ['latest', { rule: 'next' }, 'Invalid parameter: rule (requires date)'],
    ['convert', {}, 'Missing required parameter: from'],
    [
      'convert',
      { from: 'GBp', to: 'GBP' },
      `Invalid from currency: GBp (market data write hundredths of a currency so: ${HUNDREDTHS})`,
    ],
    ['convert', { ...PAIR, amount: '100' }, 'answered'],
    [
      'convert',
      { ...PAIR, amount: '1,000' },
      'Invalid amount: 1,000 (must be digits and a point, such as 1000.50)',
    ],
  ])('%s(%j) is %s', async (name, values, message) => {
    expect(messageOf(await askFunction(name, values))).toBe(message)
    expect(messageOf(await askClient(name, values))).toBe(message)
  })

  it('converts a text as it converts a number', async () => {
    const [text, number] = [
      { ...PAIR, amount: '12.50' },
      { ...PAIR, amount: 12.5 },
    ]
    for (const ask of [askFunction, askClient]) {
      expect(await ask('convert', text)).toEqual(await ask('convert', number))
    }
  })

  it('has a clear error without any parameters', async () => {
    const message = 'Missing required parameter: from'
    for (const name of ['convert', 'history'] as const) {
      expect(messageOf(await askFunction(name, Object(undefined)))).toBe(message)
    }
    expect(() => Reflect.apply(createRatesClient, undefined, [])).toThrow(
      new TypeError('options must be an object, got undefined'),
    )
  })
})

describe('a row', () => {
  it.each<[row: Values, message: string]>([
    [{ ...PAIR, amuont: 12 }, 'Invalid parameter: amuont (did you mean amount?)'],
    [{ to: 'EUR', currency: 'USD', amount: 1 }, 'Invalid parameter: currency (use from)'],
    [{ from: 'GBp', to: 'GBP', amount: 1 }, 'Invalid from currency: GBp'],
    [{ from: 'GBX', to: 'GBP', amount: 1 }, 'Invalid from currency: GBX'],
  ])('%j is an error of it: %s', async (row, message) => {
    expect(messageOf(await askRow(row))).toContain(message)
    expect(messageOf(await askRowFunction(row))).toContain(message)
    const texts = Object.entries(row).map(([name, value]) => [name, String(value)])
    expect(messageOf(await askCells(Object.fromEntries(texts)))).toContain(message)
  })

  // Browsers on Windows send files so, and spreadsheets save text with tabs.
  it.each([
    ['application/csv', ','],
    ['application/vnd.ms-excel', ';'],
    ['text/tab-separated-values; charset=utf-8', '\t'],
  ])('of a body of the type %s is read as CSV', async (type, separator) => {
    const lines = ['from,to,amount', 'USD,EUR,1'].map((line) => line.replaceAll(',', separator))
    const { status, text } = await send('v1/convert?format=json', { type, text: lines.join('\n') })
    expect([status, JSON.parse(text)]).toEqual([200, [await askRow({ ...PAIR, amount: 1 })]])
  })

  it('may have a negative amount', async () => {
    const row = { ...PAIR, amount: '-12.50', round: 'minor' }
    const { rate } = Object(await askRow(row))
    for (const answer of [await askRow(row), await askRowFunction(row), await askCells(row)]) {
      expect(Number(Object(answer).result)).toBeCloseTo(-12.5 * rate, 10)
      expect(Object(answer).rounded).toBe((-12.5 * rate).toFixed(2))
    }
  })
})
