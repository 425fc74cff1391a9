import type { DataSet } from '../src/index.ts'

/** The data sets of the last five years. */
export type DailyDataSet = Exclude<DataSet, 'archive'>

/** Returns `dataSet`; throws for the archive. */
export function requireDaily(dataSet: DataSet): DailyDataSet {
  if (dataSet !== 'archive') return dataSet
  throw new Error('the data set must not be the archive')
}
