import { expect, it } from 'vitest'

import { createRates } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { createQuestions } from '../parameters/questions.ts'
import { NOW, run } from './run.ts'

/** The command substitutes withdrawn currencies, and reads words and other decimal signs. */
const COMMON = {
  codes: 'USD EUR gbp JPY Chf SEK nok CAD XYZ'.split(' '),
  amounts: [100, 0.1, 12.34, '99.90', '.5', '90071992547409.93'],
}

it('the command has the answers of the operations', async () => {
  const rates = createRates({ providers: fakeProviders(), now: () => NOW })
  const next = createQuestions(20_261_126, COMMON)
  const counts = { answered: 0, refused: 0 }
  for (const [name, values] of Array.from({ length: 40 }, next)) {
    const { from, to, amount, ...flags } = values
    // On the command line, one code is not a list.
    if (Array.isArray(to) && to.length < 2) continue
    if (name === 'latest' && Object(flags['symbols']).length === 0) continue
    const words = [amount, from, to].filter((word) => word !== undefined).map(String)
    const options = Object.entries(flags).flatMap(([flag, value]) => {
      const option = `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
      return value === false ? [] : value === true ? [option] : [option, String(value)]
    })
    const args = [name, ...words, ...options, '--json', '--demo']
    const operation: (params: object) => Promise<unknown> = Object(rates)[name]
    const refusal = (error: unknown) => ({ error: { code: Object(error).code } })
    const expected = await operation(values).catch(refusal)
    const { code, stdout, stderr } = await run(args)
    const printed = JSON.parse(stdout || '{}')
    const isRefused = code !== 0
    const found = isRefused ? refusal(printed.error) : printed
    expect(found, `${args.join(' ')}: ${stderr}`).toEqual(JSON.parse(JSON.stringify(expected)))
    counts[isRefused ? 'refused' : 'answered'] += 1
  }
  expect(counts.answered).toBeGreaterThan(15)
  expect(counts.refused).toBeGreaterThan(3)
})
