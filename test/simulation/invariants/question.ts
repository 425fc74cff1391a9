import type { Period } from '../../oracle.ts'
import type { DataSet } from '../faults/upstream-fault.ts'

/** What a client asks, and what may be answered. */
export interface Question {
  method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST'
  /** Path and query. */
  target: string
  /** The data that it takes to answer; without them it is 502. */
  dataSet?: DataSet
  /** The statuses that are right where there are data. */
  statuses: readonly number[]
  /** What is asked for, where that is a record. */
  record?: RecordAsked
  ifNoneMatch?: string
  /** Whether the answer is compared with the truth whatever the sample. */
  isDecisive?: boolean
}

/** A record that a client asks for, by upper-case codes. */
export type RecordAsked =
  | { kind: 'latest'; base: string; symbols?: readonly string[]; isVersioned: boolean }
  | { kind: 'conversion'; from: string; to: string; amount: number; isVersioned: boolean }
  | { kind: 'history'; from: string; to: string; period: Period }
  | { kind: 'status' }
