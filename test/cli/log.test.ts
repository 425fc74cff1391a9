import { describe, expect, it } from 'vitest'

import { createLog } from '../../src/cli/log.ts'
import type { LogFormat } from '../../src/cli/log.ts'
import type { RatesEvent } from '../../src/index.ts'

const CORRECTED: RatesEvent = {
  type: 'rates_corrected',
  dataSet: 'latest',
  provider: 'Test',
  corrections: [
    { code: 'BGN', published: 57, corrected: 1.70398559422 },
    { code: 'ZWL', published: 26.5, corrected: 66_216.1913 },
  ],
}

/** The lines of a log that is given `event` at each of the `instants`. */
function linesOf(format: LogFormat, event: RatesEvent, instants = [0]): string[] {
  let now = 0
  const lines: string[] = []
  const log = createLog({ format, write: (line) => void lines.push(line), now: () => now })
  for (const instant of instants) {
    now = instant
    log(event)
  }
  return lines
}

describe('the log of corrected rates', () => {
  it('has for people a sentence with the published rates and the served ones', () => {
    expect(linesOf('text', CORRECTED)).toEqual([
      'ratesmith: latest rates: Test: corrected BGN from 57 to 1.70398559422, ZWL from 26.5 to 66216.1913',
    ])
  })

  it('has every digit of both for a machine', () => {
    const { type: event, ...fields } = CORRECTED
    const time = '1970-01-01T00:00:00.000Z'
    expect(linesOf('json', CORRECTED)).toEqual([
      JSON.stringify({ time, level: 'warn', event, ...fields }),
    ])
  })
})

describe.each<RatesEvent>([
  { type: 'stale_served', dataSet: 'latest', overdue: 5_000 },
  { type: 'overloaded', waiting: 1_000 },
])('the log of answers: $type', ({ type, ...fields }) => {
  const HOUR = 3_600_000
  const event = Object({ type, ...fields })

  it.each([
    ['one line a minute', [0, 1_000, 59_999, 60_000, 60_001], [1, 3]],
    ['a line when the clock is set back', [HOUR, 0, 1], [1, 1]],
  ])('has %s, with the number of answers since the last', (_, instants, answers) => {
    const lines = linesOf('json', event, instants).map((line): unknown => JSON.parse(line))
    expect(lines).toMatchObject(
      answers.map((count) => ({ event: type, answers: count, ...fields })),
    )
    expect(linesOf('text', event)).toEqual([expect.stringMatching(/ 1 (answers|requests) /)])
  })
})
