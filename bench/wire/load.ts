import { runAutocannon } from './load-autocannon.ts'
import { runWrk } from './load-wrk.ts'

export interface LoadSettings {
  /** Root of the server. */
  url: string
  /** Path and query. If `distinct` is given, a number follows it, starting there and incremented with every request. */
  target: string
  distinct?: number | undefined
  /** Keep-alive connections. */
  connections: number
  seconds: number
}

/** Result of a load in which every response had status 200. */
export interface LoadResult {
  requests: number
  seconds: number
  /** Percentiles of the latency, in ms. */
  p50: number
  p99: number
  /** CPU time of the generator, in seconds. */
  cpu: number
}

/** The load generators. */
export const GENERATORS = { wrk: runWrk, autocannon: runAutocannon } as const

export type GeneratorName = keyof typeof GENERATORS
