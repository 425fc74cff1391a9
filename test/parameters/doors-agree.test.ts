import { describe, expect, it } from 'vitest'

import {
  askCells,
  askClient,
  askCompat,
  askFunction,
  askQuery,
  askRowFunctions,
  askRows,
} from './doors.ts'
import type { Answer, Texts, Values } from './doors.ts'
import { createQuestions, toTexts } from './questions.ts'

/** Returns the cells of a conversion that its record has, too. */
function toCells(record: Values): Texts {
  const names = ['from', 'to', 'amount', 'rate', 'result', 'rounded', 'date', 'asked', 'rule']
  const cell = (value: unknown): string =>
    typeof value === 'number' ? String(value) : typeof value === 'string' ? value : ''
  return Object.fromEntries(names.map((name) => [name, cell(record[name])]))
}

const QUESTIONS = 2_000

describe('all doors', () => {
  it('give the same answers to the same questions', async () => {
    const next = createQuestions(20_261_126)
    const counts = { answered: 0, refused: 0, cells: 0, services: 0 }
    const different: unknown[] = []
    const compare = (expected: unknown, door: string, found: unknown, asked: Values): void => {
      if (JSON.stringify(found) === JSON.stringify(expected)) return
      different.push({ asked, expected, door, found })
    }
    const rows: [row: Values, answer: Answer][] = []
    for (let count = 0; count < QUESTIONS; count += 1) {
      const [name, values] = next()
      const texts = toTexts(values)
      const answer = await askQuery(name, texts)
      counts['error' in answer ? 'refused' : 'answered'] += 1
      compare(answer, 'function', await askFunction(name, values), values)
      compare(answer, 'client', await askClient(name, values), values)
      if (name !== 'convert') continue
      rows.push([values, answer])
      const isError = 'error' in answer
      if (!Array.isArray(values['to']) && !('source' in values)) {
        const cells = await askCells({ amount: '1', ...texts })
        const expected = isError ? answer : toCells(answer)
        compare(expected, 'cells', 'error' in cells ? cells : toCells(cells), values)
        counts.cells += 1
      }
      for (const [service, number] of Object.entries(await askCompat(texts))) {
        compare(isError ? undefined : answer['result'], service, number, values)
        counts.services += 1
      }
    }
    // All at once, so that rows share the rates of their days.
    const [sent, called] = [rows.map(([row]) => row), rows.map(([, answer]) => answer)]
    for (const [door, ask] of Object.entries({ rows: askRows, function: askRowFunctions })) {
      const answers = await ask(sent)
      called.forEach((answer, index) => compare(answer, door, answers[index], sent[index] ?? {}))
    }
    expect(different.slice(0, 3)).toEqual([])
    for (const count of [...Object.values(counts), rows.length]) expect(count).toBeGreaterThan(300)
  })
})
