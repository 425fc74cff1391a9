import { describe, expect, it } from 'vitest'

import {
  askCells,
  askClient,
  askCompat,
  askFunction,
  askQuery,
  askRow,
  askRowFunction,
  fitsCells,
} from './doors.ts'
import type { Answer, Texts, Values } from './doors.ts'
import { createQuestions, toTexts } from './questions.ts'

/** Returns the numbers of the cells of a conversion, as its record has them. */
function ofRecord(record: Values): Texts {
  const names = ['from', 'to', 'amount', 'rate', 'result', 'rounded', 'date', 'asked', 'rule']
  return Object.fromEntries(names.map((name) => [name, String(record[name] ?? '')]))
}

function ofCells(cells: Values): Values {
  return 'error' in cells ? cells : ofRecord(cells)
}

const QUESTIONS = 2_000

describe('all doors', () => {
  it('give the same answers to the same questions', async () => {
    const next = createQuestions(20_261_126)
    const counts = { answered: 0, refused: 0, rows: 0, cells: 0, services: 0 }
    const different: unknown[] = []
    for (let asked = 0; asked < QUESTIONS; asked += 1) {
      const [name, values] = next()
      const texts = toTexts(values)
      const answer = await askQuery(name, texts)
      const others: [door: string, answer: Answer][] = [
        ['function', await askFunction(name, values)],
        ['client', await askClient(name, values)],
      ]
      if (name === 'convert') {
        others.push(
          ['row', await askRow(values)],
          ['row of a function', await askRowFunction(values)],
        )
        counts.rows += 1
      }
      const isEqual = (other: unknown) => JSON.stringify(other) === JSON.stringify(answer)
      different.push(
        ...others.filter(([, other]) => !isEqual(other)).map((other) => [texts, answer, ...other]),
      )
      if (name === 'convert' && fitsCells(values) && !('source' in values)) {
        const cells = ofCells(await askCells({ amount: '1', ...texts }))
        const expected = 'error' in answer ? answer : ofRecord(answer)
        if (JSON.stringify(cells) !== JSON.stringify(expected))
          different.push([texts, expected, cells])
        counts.cells += 1
      }
      if (name === 'convert') {
        const result = 'result' in answer ? answer['result'] : undefined
        for (const [service, number] of Object.entries(await askCompat(values))) {
          if (number !== result) different.push([texts, result, service, number])
          counts.services += 1
        }
      }
      counts['error' in answer ? 'refused' : 'answered'] += 1
    }
    expect(different.slice(0, 3)).toEqual([])
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(300)
  })
})
