import { validateTable } from '../../rates/validate.ts'
import type { LatestProvider, LatestTable } from '../../upstream/provider.ts'
import { expectSameJson, expectThat } from '../expect-same.ts'
import { validatedResultOf } from './call-rules.ts'
import type { Rule } from './call-rules.ts'
import { messageOf } from './trial.ts'
import type { Subject, Trial } from './trial.ts'

/** Returns `fetchLatest()` of `provider` as the subject of a trial. */
export function latestOf(provider: LatestProvider): Subject<LatestTable> {
  return {
    name: 'fetchLatest()',
    attribution: provider.attribution,
    call: (context) => provider.fetchLatest(context),
    validate: validateTable,
  }
}

/** Rules for `fetchLatest()` only. */
export const LATEST: Record<string, Rule<LatestTable, LatestProvider>> = {
  async 'returns an updatedAt not in the future and a later nextUpdateAt'(trial) {
    const { updatedAt, nextUpdateAt } = await tableOf(trial)
    expectThat(`updatedAt to be at most ${trial.now}`, updatedAt <= trial.now, updatedAt)
    const isLater = nextUpdateAt > updatedAt
    expectThat(`nextUpdateAt to be greater than ${updatedAt}`, isLater, nextUpdateAt)
  },
  async 'returns the same table after its own previous table'(trial) {
    const previous = await tableOf(trial)
    const before = structuredClone(previous)
    expectSameJson('the table', await trial.data({ previous }), before)
    expectSameJson('context.previous', previous, before)
  },
  async 'accepts its own stored table'(trial, provider) {
    const table = await tableOf(trial)
    for (const previous of [undefined, table]) {
      try {
        validateTable(provider.validateStored?.(table, previous) ?? table, trial.now)
      } catch (error) {
        const message = 'expected validateStored() to accept its own table'
        throw new Error(`${message}, got error: ${messageOf(error)}`, { cause: error })
      }
    }
  },
}

async function tableOf(trial: Trial<LatestTable>): Promise<LatestTable> {
  const table = await trial.data()
  validatedResultOf(trial, table)
  return table
}
