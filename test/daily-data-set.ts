import type { DataSet } from '../src/events.ts'

/** What every day's questions need: all but the days before the last five years. */
export type DailyDataSet = Exclude<DataSet, 'archive'>

/** `dataSet`, unless earlier days were requested. */
export function requireDaily(dataSet: DataSet): DailyDataSet {
  if (dataSet !== 'archive') return dataSet
  throw new Error('the archive was asked for')
}
