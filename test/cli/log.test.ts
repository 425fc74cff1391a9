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

function linesOf(format: LogFormat, event: RatesEvent): string[] {
  const lines: string[] = []
  createLog({ format, write: (line) => void lines.push(line), now: () => 0 })(event)
  return lines
}

describe('the log of corrected rates', () => {
  it('says in a sentence what was published and what is served', () => {
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

describe('the log of stale answers', () => {
  /** The JSON lines of as many stale answers as there are `instants`, each given at one of them. */
  function staleLines(instants: readonly number[]): unknown[] {
    let now = 0
    const lines: unknown[] = []
    const write = (line: string): void => void lines.push(JSON.parse(line))
    const log = createLog({ format: 'json', write, now: () => now })
    for (const instant of instants) {
      now = instant
      log({ type: 'stale_served', dataSet: 'latest', overdue: 5_000 })
    }
    return lines
  }

  it('has one line a minute for a machine too, with the number of answers since the last', () => {
    const lines = staleLines([0, 1_000, 59_999, 60_000, 60_001])
    expect(lines).toMatchObject([
      { event: 'stale_served', answers: 1, overdue: 5_000 },
      { event: 'stale_served', answers: 3, overdue: 5_000 },
    ])
    expect(lines).toHaveLength(2)
  })

  it('goes on when the clock is set back', () => {
    const hour = 3_600_000
    expect(staleLines([hour, 0, 1])).toMatchObject([{ answers: 1 }, { answers: 1 }])
  })
})
