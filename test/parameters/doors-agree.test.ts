import { expect, it } from 'vitest'

import { fixer } from '../../src/compat/fixer.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { now, openDoors, toQuery } from './doors.ts'
import type { Answer, Texts, Values } from './doors.ts'
import { createQuestions, toTexts } from './questions.ts'

const options = { providers: fakeProviders({ now }), now }
const doors = openDoors(options)

const compat = {
  'exchangerate.host': createRatesHandler({ ...options, routes: fixer() }),
  'Open Exchange Rates': createRatesHandler({ ...options, routes: openExchangeRates() }),
  Frankfurter: createRatesHandler({ ...options, routes: frankfurter() }),
}

/** Returns the number of each service that can be asked for this conversion; undefined for an error. */
async function askCompat({ from, to, amount = '1', date, ...others }: Texts) {
  if (Object.keys(others).length > 0 || !from || !to || to.includes(',')) return {}
  const ask = async (service: keyof typeof compat, target: string) =>
    (await compat[service](new Request(`http://localhost${target}`))).json()
  const query = toQuery({ from, to, amount, ...(date !== undefined && { date }) })
  const { result } = await ask('exchangerate.host', `/convert${query}`)
  const found: Record<string, unknown> = { 'exchangerate.host': result }
  if (date === undefined) {
    const { response } = await ask('Open Exchange Rates', `/api/convert/${amount}/${from}/${to}`)
    found['Open Exchange Rates'] = response
  } else if (from.toUpperCase() !== to.toUpperCase() && Number(amount) !== 0) {
    const table = await ask('Frankfurter', `/v1/${date}${toQuery({ from, to, amount })}`)
    found['Frankfurter'] = table.rates?.[to.toUpperCase()]
  }
  return found
}

const textOf = (value: unknown): string =>
  value === undefined ? '' : String(Object(value).valueOf())

/** Returns the cells of a conversion that its record has, too. */
function toCells(record: Values): Texts {
  const names = ['from', 'to', 'amount', 'rate', 'result', 'rounded', 'date', 'asked', 'rule']
  return Object.fromEntries(names.map((name) => [name, textOf(record[name])]))
}

it('all doors give the same answers to the same questions', async () => {
  const next = createQuestions(20_261_126)
  const counts = { answered: 0, refused: 0, cells: 0, services: 0, rows: 0 }
  const different: unknown[] = []
  const compare = (expected: unknown, door: string, found: unknown, asked: Values): void => {
    if (JSON.stringify(found) === JSON.stringify(expected)) return
    different.push({ asked, expected, door, found })
  }
  const rows: [row: Values, answer: Answer][] = []
  for (let count = 0; count < 2_000; count += 1) {
    const [name, values] = next()
    const texts = toTexts(values)
    const answer = await doors.askQuery(name, texts)
    const isError = 'error' in answer
    counts[isError ? 'refused' : 'answered'] += 1
    compare(answer, 'function', await doors.askFunction(name, values), values)
    compare(answer, 'client', await doors.askClient(name, values), values)
    if (name !== 'convert') continue
    counts.rows = rows.push([values, answer])
    if (!Array.isArray(values['to']) && !('source' in values)) {
      const cells = await doors.askCells({ amount: '1', ...texts })
      compare(isError ? answer : toCells(answer), 'cells', isError ? cells : toCells(cells), values)
      counts.cells += 1
    }
    for (const [service, number] of Object.entries(await askCompat(texts))) {
      compare(isError ? undefined : answer['result'], service, number, values)
      counts.services += 1
    }
  }
  // All at once, so that rows share the rates of their days.
  const sent = rows.map(([row]) => row)
  for (const ask of [doors.askRows, doors.askRowFunctions]) {
    const answers = await ask(sent)
    for (const [at, [row, answer]] of rows.entries()) compare(answer, 'rows', answers[at], row)
  }
  expect(different.slice(0, 3)).toEqual([])
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(300)
})
