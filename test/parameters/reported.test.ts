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
    ['convert?from=GBX&to=GBP', 'Invalid from currency: GBX', HUNDREDTHS],
    ['convert?from=zac&to=USD', 'Invalid from currency: zac', HUNDREDTHS],
    ['convert?from=KWF&to=USD', 'Invalid from currency: KWF', 'divide the amount by 1000'],
    ['convert?from=USD&to=EUR,GBp', 'Invalid to currency: GBp', HUNDREDTHS],
    ['latest?base=GBp', 'Invalid base currency: GBp', HUNDREDTHS],
    ['latest?symbols=EUR,GBp', 'Invalid symbols currency: GBp', HUNDREDTHS],
    ['history?from=GBp&to=USD', 'Invalid from currency: GBp', HUNDREDTHS],
    [`convert?${IN_QUERY}&ammount=100`, 'ammount', 'did you mean amount?'],
    ['currencies?search=yen', 'search', 'unknown; /v1/currencies takes symbols, format'],
    ['currencies?code=EUR', 'code', 'use symbols'],
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
    ['latest', { rule: 'next' }, 'Invalid parameter: rule (requires date)'],
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
  it.each(['GBp', 'GBX'])('has the advice about %s in its error', async (from) => {
    const row = { from, to: 'GBP', amount: '1' }
    for (const ask of [askRow, askRowFunction, askCells]) {
      expect(messageOf(await ask(row))).toContain(`Invalid from currency: ${from} (`)
    }
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
})
