import type { LatestProvider, LatestTable } from '../../providers/provider.ts'
import { validateTable } from '../../rates/validate.ts'
import { expectSameJson } from '../expect-same.ts'
import { acceptedOf } from './call-rules.ts'
import type { Rule } from './call-rules.ts'
import { messageOf } from './trial.ts'
import type { Subject, Trial } from './trial.ts'

/** `fetchLatest()` of `provider`, to be put on trial. */
export function latestOf(provider: LatestProvider): Subject<LatestTable> {
  return {
    name: 'fetchLatest()',
    attribution: provider.attribution,
    ask: (context) => provider.fetchLatest(context),
    accept: validateTable,
  }
}

/** What a provider of latest rates must do beside what both must. */
export const LATEST: Record<string, Rule<LatestTable, LatestProvider>> = {
  async 'was published by now, and says when it will be next'(trial) {
    const { updatedAt, nextUpdateAt } = await tableOf(trial)
    if (updatedAt > trial.now) {
      throw new Error(`expected updatedAt to be ${trial.now} or before, got ${updatedAt}`)
    }
    if (nextUpdateAt > updatedAt) return
    throw new Error(`expected nextUpdateAt to be after ${updatedAt}, got ${nextUpdateAt}`)
  },
  async 'gives the same beside its own table before'(trial) {
    const previous = await tableOf(trial)
    const before = structuredClone(previous)
    expectSameJson('the table', await trial.answer({ previous }), before)
    expectSameJson('context.previous', previous, before)
  },
  async 'accepts its own stored table'(trial, provider) {
    const table = await tableOf(trial)
    for (const previous of [undefined, table]) {
      try {
        validateTable(provider.validateStored?.(table, previous) ?? table, trial.now)
      } catch (error) {
        throw new Error(`expected validateStored() to accept its own table: ${messageOf(error)}`, {
          cause: error,
        })
      }
    }
  },
}

/** The table that it resolves to, which the handler would accept. */
async function tableOf(trial: Trial<LatestTable>): Promise<LatestTable> {
  const table = await trial.answer()
  acceptedOf(trial, table)
  return table
}
