import { runAutocannon } from './load-autocannon.ts'
import { runWrk } from './load-wrk.ts'

/** What is asked, by whom, for how long. */
export interface LoadSettings {
  /** Root of the server. */
  url: string
  /** Path and query; where `distinct` is given, that number follows it, and every request has the next one. */
  target: string
  distinct?: number | undefined
  /** Connections that are kept. */
  connections: number
  /** How long. */
  seconds: number
}

/** What a load has seen. Whatever was no 200 has made it reject instead. */
export interface LoadResult {
  requests: number
  seconds: number
  /** Percentiles of the latency, in ms. */
  p50: number
  p99: number
  /** Processor time of the generator, in seconds. */
  cpu: number
}

/** Programs that can make load. */
export const GENERATORS = { wrk: runWrk, autocannon: runAutocannon } as const

/** One of them. */
export type GeneratorName = keyof typeof GENERATORS
