import { describe, expect, test } from 'vitest'

import { toDay } from '../fixtures/dates.ts'
import { run } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'
import { DAY } from '../virtual-runtime.ts'
import { simulate } from './simulate.ts'
import { BANK_FAULTS, BANK_FORMS } from './world/banks.ts'
import { FAULT_NAMES } from './world/nemesis.ts'
import { targetDays } from './world/truth.ts'

const TIMEOUT = 45 * 60_000

describe('the simulator', () => {
  test('has more than 90 faults', () => {
    expect(FAULT_NAMES.length).toBeGreaterThan(90)
  })

  test.each(FAULT_NAMES)('finds no violation with fault %s', { timeout: TIMEOUT }, async (id) => {
    const faults = { faultNames: new RegExp(`^${id}: `), faultShare: 1 }
    const shared = { store: 'remote', hasClaims: true, historyDays: 30 } as const
    const banks = BANK_FAULTS.includes(id) ? [...BANK_FORMS] : []
    const settings = { ...faults, ...shared, hosts: 2, requests: 150, banks }
    let times = 0
    for (let seed = 1; seed <= 60 && times === 0; seed += 1) {
      const { injected } = await simulate({ seed, days: 4, settings })
      times += injected.get(id) ?? 0
    }
    expect(times).toBeGreaterThan(0)
  })

  test('produces the same run for the same seed with any number of threads', async () => {
    const args = ['--seeds', '12', '--days', '6']
    const digestWith = async (jobs: string) => {
      const program = ['test/simulation/main.ts', ...args, '--jobs', jobs]
      const { stdout } = await run(process.execPath, program, { cwd: ROOT })
      return /^digest \w+$/m.exec(stdout)?.[0]
    }
    const digest = await digestWith('1')
    expect(digest).toBeDefined()
    expect(await digestWith('2')).toBe(digest)
  })

  test(
    'counts one upstream call per publication in a year of eight processes without faults',
    { timeout: TIMEOUT },
    async () => {
      const startsAt = Date.UTC(2027, 2, 1, 12)
      const days = 365
      const { upstreamCalls } = await simulate({
        seed: 1,
        days,
        settings: {
          hosts: 8,
          startsAt,
          calmFrom: 0,
          faultShare: 0,
          mishapEvery: Infinity,
          skew: 20,
          store: 'remote',
          hasClaims: true,
          requests: 48,
          historyDays: 60,
          lateShare: 0,
          banks: [],
        },
      })
      const published = targetDays(toDay(startsAt + DAY), toDay(startsAt + days * DAY))
      // The first call of each data set fetches the current publication.
      expect(upstreamCalls).toEqual({ latest: 1 + days, history: 1 + published.length })
    },
  )
})
