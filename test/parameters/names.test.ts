import { describe, expect, it } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { parametersOf } from '../../src/api/check.ts'
import { OPERATIONS, ROW } from '../../src/api/parameters.ts'
import type { Operation } from '../../src/api/parameters.ts'
import { fixer } from '../../src/compat/fixer.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { now, openDoors, toQuery } from './doors.ts'
import type { Answer, OperationName, Texts } from './doors.ts'
import { ADVICE, WITHOUT_COUNTERPART } from './services.ts'

const { handler, send, askFunction, askClient, askRow, askCells } = openDoors()

const PAIR = { from: 'USD', to: 'EUR' }

const ENDPOINTS: readonly (readonly [name: OperationName, required: Texts])[] = [
  ['latest', {}],
  ['convert', PAIR],
  ['history', PAIR],
  ['days', { start: '2026-11-02' }],
  ['currencies', {}],
  ['sources', {}],
  ['status', {}],
]

/** Ignored in queries, and in queries alone. */
const IGNORED =
  '_ _1700000000 _base x_trace x-trace utm_source utm_id fbclid gclid msclkid callback cb v t ts rand nocache cachebuster access_key api_key apikey app_id key token'.split(
    ' ',
  )

const UNKNOWN = ['foo', 'theme', 'utm', 'X_trace', 'constructor', 'hasOwnProperty']

/** Returns the spellings of a name by frameworks, markup and people. */
function variantsOf(name: string): string[] {
  const words = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const parts = words.includes('_') ? [words, words.replace('_', '-')] : []
  const halves = `${name.slice(0, 2)}_${name.slice(2)}`
  const spellings = [name.toUpperCase(), ...parts, ...(name.length > 2 ? [halves] : [])]
  const framed = ['[]', '[0]', '[x]', '[', '[][]', '[a][b]'].map((end) => name + end)
  const prefixed = ['?', 'amp;', 'amp;amp;'].map((start) => start + name)
  return [...spellings, ...framed, ...prefixed].filter((each) => each !== name)
}

/** Returns the names that one typing mistake makes: a letter left out, replaced, or swapped with the next. */
function mistypings(name: string): string[] {
  const at = name.length < 4 ? [] : Array.from(name, (_, index) => index)
  const edit = (index: number, removed: number, added: string): string =>
    name.slice(0, index) + added + name.slice(index + removed)
  const all = at.flatMap((index) => [
    edit(index, 1, ''),
    edit(index, 1, 'x'),
    edit(index, 2, `${name[index + 1] ?? ''}${name[index]}`),
  ])
  return [...new Set(all)].filter((each) => each !== name)
}

/** Returns every wrong name with the parameter that it means, or its alternatives. */
function wrongNames(parameters: Operation['parameters']): [name: string, meant: string][] {
  return Object.entries(parameters).flatMap(([meant, { aliases }]) => {
    const names = [...variantsOf(meant), ...mistypings(meant), ...(aliases.match(/\w+/g) ?? [])]
    return names
      .filter((name) => !Object.hasOwn(parameters, name))
      .map((name): [string, string] => [name, meant])
  })
}

function expectAdvice(answer: Answer, name: string, meant: string): void {
  const { code, message } = Object(answer)['error'] ?? {}
  const forms = [`use ${meant}`, `did you mean ${meant}?`]
  expect([code, name, forms.map((form) => `Invalid parameter: ${name} (${form})`)]).toEqual([
    'invalid_parameter',
    name,
    expect.arrayContaining([message]),
  ])
}

const errorOf = (hint: string) => ({
  error: { code: 'invalid_parameter', message: `Invalid parameter: ${hint}` },
})

async function askHttp(name: OperationName, texts: Texts): Promise<Answer> {
  const { status, text } = await send(`v1/${name}${toQuery(texts)}`)
  expect(status).toBe(400)
  return JSON.parse(text)
}

describe.each(ENDPOINTS)('a wrong name of a parameter of %s', (name, required) => {
  const operation = OPERATIONS[name]

  it('is an error of queries, functions and clients, with the name that was meant', async () => {
    for (const [wrong, meant] of wrongNames(parametersOf(operation))) {
      const answer = await askHttp(name, { ...required, [wrong]: '1' })
      expectAdvice(answer, wrong, meant)
      // A function has no forms of responses.
      if (!Object.hasOwn(operation.parameters, meant)) continue
      expect(await askFunction(name, { ...required, [wrong]: '1' })).toEqual(answer)
      expect(await askClient(name, { ...required, [wrong]: '1' })).toEqual(answer)
    }
  })

  it('is an error if it is unknown', async () => {
    const takes = Object.keys(parametersOf(operation)).join(', ') || 'no parameters'
    for (const unknown of UNKNOWN) {
      const error = errorOf(`${unknown} (unknown; /v1/${name} takes ${takes})`)
      for (const ask of [askHttp, askFunction, askClient]) {
        expect(await ask(name, { ...required, [unknown]: '1' })).toEqual(error)
      }
    }
  })

  it('is ignored if browsers, trackers, caches or other services add it, in queries alone', async () => {
    const plain = await send(`v1/${name}${toQuery(required)}`)
    const added = Object.fromEntries(IGNORED.map((ignored) => [ignored, '1']))
    expect(await send(`v1/${name}${toQuery({ ...required, ...added })}`)).toEqual(plain)
    expect(plain.status).toBe(200)
    for (const ignored of [...IGNORED, 'format', 'layout']) {
      const error = errorOf(`${ignored} (only for queries)`)
      for (const ask of [askFunction, askClient]) {
        expect(await ask(name, { ...required, [ignored]: 'csv' })).toEqual(error)
      }
    }
  })
})

describe('a wrong name in a row', () => {
  it('is an error of a JSON row', async () => {
    for (const [wrong, meant] of wrongNames(ROW.parameters)) {
      // Rows may have a quote.
      if (wrong !== 'quote') expectAdvice(await askRow({ ...PAIR, [wrong]: '1' }), wrong, meant)
    }
    for (const name of IGNORED) {
      expect(await askRow({ ...PAIR, [name]: 1 })).toEqual(errorOf(`${name} (only for queries)`))
    }
    const { message } = Object(await askRow({ ...PAIR, foo: 1 })).error
    expect(message).toContain('Invalid parameter: foo (unknown; /v1/convert takes from, to, amount')
  })

  it('is an error of a whole CSV body, or ignored if it is like no parameter', async () => {
    for (const [wrong, meant] of wrongNames(ROW.parameters)) {
      // Capitals are no mistake there, and results have a column of this name.
      if (wrong.toLowerCase() === meant.toLowerCase() || meant === 'source') continue
      const { [meant]: _, ...cells }: Texts = { ...PAIR, amount: '1', [wrong]: '1' }
      const answer = await askCells(cells)
      expectAdvice(answer, wrong, meant)
      expect(answer).toHaveProperty('whole')
    }
    const cells = { ...PAIR, amount: '1' }
    expect(await askCells({ ...cells, value: '2' })).toMatchObject(errorOf('value (use amount)'))
    const plain = await askCells(cells)
    expect(plain).toHaveProperty('result')
    // Near names are those of other columns where the parameter has its own.
    for (const name of ['note', 'booking text', 'access_key', 'category', '#', 'account']) {
      expect(await askCells({ ...cells, [name]: 'x' })).toEqual(plain)
    }
  })

  it.each([
    ['amount=1', 'amount (use amount in the rows of the body)'],
    ['base=USD', 'base (use from in the rows of the body)'],
    ['amout=1', 'amout (did you mean amount? in the rows of the body)'],
    ['foo=1', 'foo (unknown; /v1/convert takes format)'],
  ])('is an error beside many rows, with the place of the parameter: %s', async (query, hint) => {
    const row = { type: 'application/json', text: JSON.stringify([PAIR]) }
    const { status, text } = await send(`v1/convert?${query}`, row)
    expect([status, JSON.parse(text)]).toEqual([400, errorOf(hint)])
  })

  it.each([
    ['foo', 'foo (unknown; /v1/convert takes format)'],
    ['format', 'format (only for queries)'],
  ])('is an error of the options of a function: %s', async (name, hint) => {
    const { convertMany } = Object(handler.rates)
    const { error } = errorOf(hint)
    await expect(convertMany([PAIR], { [name]: 'csv' })).rejects.toMatchObject(error)
  })
})

describe('an unversioned endpoint', () => {
  const VERSIONED =
    'symbols to date rule maxAge source reverse round expand period start end interval value fill'

  it.each([
    ['rates', OPERATIONS.unversionedRates, {}, ['symbols', 'to', 'currencies', 'quote']],
    ['convert', OPERATIONS.unversionedConvert, PAIR, []],
  ] as const)(
    '/api/%s refuses what is like its names, and ignores other names',
    async (path, operation, required, ignored) => {
      const own = wrongNames(parametersOf(operation)).map(([name]) => name)
      const others = VERSIONED.split(' ').filter(
        (name) => !(name in required) && !ignored.some((each) => each === name),
      )
      for (const name of [...own, ...others, ...others.flatMap(variantsOf)]) {
        const { status, text } = await send(`${path}${toQuery({ ...required, [name]: '1' })}`)
        const error = `Invalid parameter: ${name}`
        expect([status, text]).toEqual([400, JSON.stringify({ error })])
      }
      const plain = await send(`${path}${toQuery(required)}`)
      expect(plain.status).toBe(200)
      for (const name of ['foo', 'context', ...IGNORED, ...ignored]) {
        const query = toQuery({ ...required, [name]: '1' })
        expect(await send(`${path}${query}`), name).toEqual(plain)
      }
    },
  )
})

const DAY = '2026-11-20'

const routed = createRatesHandler({
  providers: fakeProviders({ now }),
  now,
  routes: [frankfurter(), fixer(), openExchangeRates()],
})

it.each<[path: string, params: Texts, known: string, similar: string]>([
  ['/v1/latest', { symbols: 'EUR', base: 'USD' }, 'amount', 'amout Amount amount[] bse ?from'],
  ['/timeseries', { start_date: DAY, end_date: DAY }, 'amount', 'amout Symbols startdate plces'],
  ['/convert', PAIR, 'amount', 'amout From amp;amount dat'],
  ['/api/latest.json', { base: 'USD' }, 'symbols', 'symbol Base bas'],
])(
  '%s refuses what is like its names, and ignores others',
  async (path, params, known, similar) => {
    const isServed = async (name: string, value: string): Promise<boolean> => {
      const query = toQuery({ ...params, [name]: value })
      const response = await routed(new Request(`http://localhost${path}${query}`))
      const { success = true } = Object(await response.json())
      return response.status === 200 && success
    }
    const ignored = 'foo theme access_key apikey app_id format callback prettyprint'.split(' ')
    for (const name of ignored) expect(await isServed(name, '1'), name).toBe(true)
    expect(await isServed(known, known === 'amount' ? '5' : 'EUR')).toBe(true)
    for (const name of similar.split(' ')) expect(await isServed(name, '5'), name).toBe(false)
  },
)

it.each(['/v1/latest?symbols=GBp', '/v1/latest?base=GBp'])('%s is refused', async (path) => {
  const response = await routed(new Request(`http://localhost${path}`))
  expect([response.status, await response.json()]).toEqual([404, { message: 'not found' }])
})

it('the parameter of the API key is known', async () => {
  const access = createAccess({
    plans: { public: '60/min' },
    anonymous: 'public',
    queryParameters: ['secret'],
  })
  const keyed = createRatesHandler({ access })
  const statusOf = async (path: string, name: string) =>
    (await keyed(new Request(`http://localhost/api/v1/${path}?${name}=rsk_none`))).status
  for (const path of ['latest', 'status']) {
    // The key is read, and unknown.
    expect([await statusOf(path, 'secret'), await statusOf(path, 'secrets')]).toEqual([401, 400])
  }
})

describe('a parameter of another service', () => {
  const three = ENDPOINTS.slice(0, 3)

  it.each([...ADVICE])('is refused with advice if it is not one of ours: %s', async (...row) => {
    const [name, advice] = row
    for (const [index, [endpoint, required]] of three.entries()) {
      const isKnown = Object.hasOwn(parametersOf(OPERATIONS[endpoint]), name)
      expect(advice[index] === undefined).toBe(isKnown)
      if (isKnown) continue
      const error = errorOf(`${name} (${advice[index]})`)
      expect(await askHttp(endpoint, { ...required, [name]: '1' })).toEqual(error)
    }
  })

  it.each(WITHOUT_COUNTERPART)('is refused if no endpoint has its meaning: %s', async (name) => {
    for (const [endpoint, required] of three) {
      const message = expect.stringContaining(`${name} (unknown; /v1/${endpoint} takes `)
      const answer = await askHttp(endpoint, { ...required, [name]: '1' })
      expect(answer).toMatchObject({ error: { code: 'invalid_parameter', message } })
    }
  })
})
