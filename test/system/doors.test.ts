import { beforeAll, expect, it } from 'vitest'

import { createRates } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import type { OperationName, Values } from '../parameters/doors.ts'
import { createQuestions } from '../parameters/questions.ts'
import { piped } from './commands.ts'
import { NODE } from './runtimes.ts'

const QUESTIONS = 60
const AT_ONCE = 4

/** The command substitutes withdrawn currencies, and reads words and other decimal signs. */
const COMMON = {
  codes: 'USD EUR gbp JPY Chf SEK nok CAD XYZ'.split(' '),
  amounts: [100, 0.1, 12.34, '99.90', '.5', '90071992547409.93'],
}

const rates = createRates({ providers: fakeProviders() })

beforeAll(() => () => rates.close())

/** Returns the command line of a question. */
function toArguments(name: OperationName, { from, to, amount, ...flags }: Values): string[] {
  const words = [amount, from, to].filter((word) => word !== undefined).map(String)
  const options = Object.entries(flags).flatMap(([flag, value]) => {
    if (value === false) return []
    const option = `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    return value === true ? [option] : [option, String(value)]
  })
  return [name, ...words, ...options, '--json', '--demo']
}

async function ask(name: OperationName, values: Values): Promise<unknown> {
  try {
    const operation: (params: Values) => Promise<unknown> = Object(rates)[name]
    return JSON.parse(JSON.stringify(await operation(values)))
  } catch (error) {
    return { error: { code: Object(error).code } }
  }
}

it('the command has the answers of the operations', async () => {
  const next = createQuestions(20_261_126, COMMON)
  const questions = Array.from({ length: QUESTIONS }, next).filter(
    // On the command line, one code is not a list.
    ([name, { to, symbols }]) =>
      !(Array.isArray(to) && to.length < 2) && !(name === 'latest' && Object(symbols).length === 0),
  )
  const counts = { answered: 0, refused: 0 }
  const checkAll = async (): Promise<void> => {
    for (let question = questions.pop(); question; question = questions.pop()) {
      const [name, values] = question
      const args = toArguments(name, values)
      const before = await ask(name, values)
      const { code, stdout, stderr } = await piped(NODE, args)
      // Rates may be published meanwhile.
      const expected = [before, await ask(name, values)]
      const isRefused = Object(before).error !== undefined
      const printed: unknown = stdout === '' ? undefined : JSON.parse(stdout)
      const found = isRefused ? { error: { code: Object(printed).error?.code } } : printed
      expect(expected, `${args.join(' ')}: ${stderr}`).toContainEqual(found)
      expect(code === 0, args.join(' ')).toBe(!isRefused)
      counts[isRefused ? 'refused' : 'answered'] += 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, checkAll))
  expect(counts.answered).toBeGreaterThan(20)
  expect(counts.refused).toBeGreaterThan(5)
})
