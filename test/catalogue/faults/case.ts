import type { RatesEvent } from '../../../src/events.ts'
import type { DailyDataSet as DataSet } from '../../daily-data-set.ts'
import type { HistoryDays } from '../../../src/providers/provider.ts'
import type { Freshness } from './answers.ts'
import type { Serves, Truth } from './truth.ts'
import type { Inject } from './upstream.ts'
import type { Reply, StoreFault, World, WorldOptions } from './world.ts'

/**
 * In what state a fault meets a handler: with nothing usable anywhere; with data whose refresh is overdue by less than
 * `maxStale`; by more; or with data that need no refresh yet.
 */
export type State = 'cold' | 'warm' | 'expired' | 'fresh'

export const STATES: readonly State[] = ['cold', 'warm', 'expired', 'fresh']

/** Where a fault sits. */
type Layer =
  | 'transport'
  | 'http'
  | 'body'
  | 'schema'
  | 'values'
  | 'time'
  | 'clock'
  | 'history'
  | 'store'
  | 'lifecycle'

/** What becomes of what an upstream says: nothing, or it is served. */
export type Verdict = 'refused' | 'accepted'

/** One entry of the catalogue. */
export interface FaultCase {
  id: string
  layer: Layer
  /** What goes wrong, in a few words. */
  fault: string
  /** Why the wanted answer is another than the catalogue's, where the contract says so. */
  contract?: string
  /** Why the catalogue has no answer for a state, and what is tried in its place. */
  instead?: Partial<Record<State, string>>
  /** The forms in which it comes; every one goes through all four states. */
  variants: readonly Variant[]
}

/** One form of a fault. What is left out is as it is in a world where nothing is wrong. */
export interface Variant {
  name: string
  /** Whose upstream it is about (default latest rates alone). */
  dataSets?: readonly DataSet[]
  /** What becomes of the upstream's answer, unless `inState` says otherwise. */
  verdict: Verdict
  inState?: Partial<Record<State, Verdict>>

  /** What happens to calls of the upstream. */
  inject?: Inject
  /** What the provider does instead of asking its upstream. */
  misbehave?(): Promise<never>
  /** What the history provider makes of its upstream's answer. */
  retell?(answer: HistoryDays): HistoryDays
  /** What stores do. */
  store?: StoreFault
  /** Whatever else makes the fault begin. */
  begin?(world: World, state: State): void
  /** Lets it end, where it is more than the above. */
  end?(world: World): void
  world?: WorldOptions
  /** How the state is reached. */
  arrive?(world: World, state: State): Promise<void>
  /** How the questions are asked that meet the fault. */
  act?(world: World, state: State): Promise<Reply[]>

  /** What of the upstream's answer is served. */
  serves?: Serves
  /** The same for the answer after the fault. */
  servesAfterwards?: Serves
  /** How long the fault takes to show, in ms; `limit` where only the call's time limit ends it. */
  takes?: number | 'limit'
  /** How long the upstream is left alone at least afterwards, in ms (default 1 s where refused, else 10 min). */
  pause?: number
  /** How often a data set's provider may be asked in that time, by all processes together (default once a process). */
  attempts?: Partial<Record<State, number>>
  /** How fresh the answers may say they are once the fault has shown (default by the state and the verdict). */
  freshness?: readonly Freshness[]
  /** Events that tell of it where it has met a refresh. */
  told?: readonly RatesEvent['type'][]
  /** Whether stores keep what is served: all, none, or the first process's (default all). */
  keeps?: boolean | 'first'

  /** What else must hold once the fault has shown, and after it. */
  meanwhile?(meeting: Meeting): Promise<void> | void
  afterwards?(meeting: Meeting): Promise<void> | void
}

/** A fault that met a handler. */
export interface Meeting {
  world: World
  state: State
  variant: Variant
  dataSet: DataSet
  /** What was served before; absent when cold. */
  before: Truth | undefined
  /** What may be served now; absent where nothing may. */
  now: Truth | undefined
}
