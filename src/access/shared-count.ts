/** One atomic call to counters that processes share. Times and durations are in whole µs, by the clock of the counters. */
export interface SharedRequest {
  /** Quota of the burst limit; 0 without one. */
  readonly quota: number
  readonly window: number
  readonly life: number
  /** Quota of the month; 0 without one. */
  readonly monthQuota: number
  /** The starts of the previous, the current and the next two months by the clock of the process. */
  readonly months: readonly [number, number, number, number]
  /** The least number of permits: all or none. 0 only gives back. */
  readonly need: number
  /** Permits for requests that wait, at least `need`. */
  readonly immediate: number
  /** Permits for requests that are expected within `life`. */
  readonly ahead: number
  /** Permits of an ended lot that were not used, and when the lot was taken. */
  readonly unused: number
  readonly unusedAt: number
  /** Permits of requests that failed, and when the last lot was taken. */
  readonly refund: number
  readonly refundAt: number
}

export interface SharedReply {
  /** Number of permits; 0 where `need` did not fit. */
  readonly granted: number
  readonly now: number
  /** Time until the burst limit has its whole quota again. */
  readonly deficit: number
  /** The deficit at which the burst limit is used up. */
  readonly capacity: number
  readonly used: number
  /** End of this month; 0 without a limit for months. */
  readonly monthEnd: number
}

/**
 * What the counters keep of a client. The burst limit is a generic cell rate algorithm (GCRA).
 *
 * A permit of a lot may be used up to one `life` after it was taken. The shared limit is therefore one `life` of refill
 * smaller than the plan, except where nothing was lent since it was whole.
 */
interface State {
  /** Theoretical arrival time of the GCRA. */
  arrival: number
  /**
   * The last time at which permits were taken while the limit would have been almost whole without all lots. Permits that
   * were taken since then can be given back as if they never were taken; of others, the refill since then is subtracted.
   */
  since: number
  /** Number of the current period of two lives; 0 where nothing was lent since the limit was whole. */
  period: number
  /** Permits lent in this period and in the one before: an upper bound of those that may still be used or given back. */
  lent: number
  before: number
  monthEnd: number
  used: number
}

/** Requests cost at most 10, so that one that fails while another is counted does not make the limit whole. */
const MARGIN = 10

const STATE = /^\d{1,16}( \d{1,16}){6}$/

const EMPTY: State = { arrival: 0, since: 0, period: 0, lent: 0, before: 0, monthEnd: 0, used: 0 }

/** A new state as text, how long it must be kept in ms, and the result; `COUNT_SCRIPT` is the same in Lua. */
export interface Counted {
  text: string
  keepFor: number
  reply: SharedReply
}

/**
 * Counts a request on the state `text`; text that is not a state counts as absent.
 *
 * @throws {Error} if the clocks of the process and the counters are months apart
 */
export function count(text: unknown, request: SharedRequest, now: number): Counted {
  const state = parseState(text)
  const monthStart = startMonth(state, request, now)
  const deficit = giveBack(state, request, now, monthStart)
  return take(state, request, now, deficit)
}

function parseState(text: unknown): State {
  if (typeof text !== 'string' || !STATE.test(text)) return { ...EMPTY }
  const [arrival = 0, since = 0, period = 0, lent = 0, before = 0, monthEnd = 0, used = 0] = text
    .split(' ')
    .map(Number)
  return { arrival, since, period, lent, before, monthEnd, used }
}

/** Returns the start of the month, and forgets the use of another one. */
function startMonth(state: State, { monthQuota, months }: SharedRequest, now: number): number {
  const index = months.findIndex((start) => start > now)
  const end = months[index]
  const start = months[index - 1]
  if (end === undefined || start === undefined) throw new Error('clocks are months apart')
  const monthEnd = monthQuota > 0 ? end : 0
  if (state.monthEnd !== monthEnd) state.used = 0
  state.monthEnd = monthEnd
  return start
}

/** Gives back unused and refunded permits; returns the deficit of the burst limit. */
function giveBack(state: State, request: SharedRequest, now: number, monthStart: number): number {
  const { quota, window, life, unused, unusedAt, refund, refundAt } = request
  if (unused > 0 && unusedAt >= monthStart) state.used = Math.max(0, state.used - unused)
  if (refund > 0 && refundAt >= monthStart) state.used = Math.max(0, state.used - refund)
  if (quota === 0) return 0
  startPeriod(state, request, now)
  let deficit = Math.max(0, state.arrival - now)
  const returned = Math.min(unused, state.lent + state.before)
  if (returned > 0 && unusedAt <= now && now - unusedAt <= 2 * life) {
    const others = deficit - timeOf(state.lent + state.before, request)
    const whole = Math.floor((returned * window) / quota)
    const back = unusedAt >= state.since ? whole + Math.min(0, others) : whole - (now - unusedAt)
    deficit = Math.max(0, deficit - Math.max(0, back))
    const early = Math.min(state.before, returned)
    state.before -= early
    state.lent -= returned - early
  }
  if (refund > 0 && refundAt <= now) {
    const others = Math.max(0, deficit - timeOf(state.lent + state.before, request))
    const whole = Math.floor((refund * window) / quota)
    const isWhole = refundAt >= state.since && refund <= MARGIN
    const back = isWhole ? whole : whole - (now - refundAt)
    deficit -= Math.max(0, Math.min(back, others))
  }
  return deficit
}

/** Limits times that a clock or another plan left behind, and starts the period of `now`. */
function startPeriod(state: State, { window, life }: SharedRequest, now: number): void {
  const period = Math.floor(now / (2 * life))
  state.arrival = Math.min(state.arrival, now + window)
  state.since = Math.min(state.since, now)
  if (state.period > 0 && state.period < period) {
    state.before = state.period === period - 1 ? state.lent : 0
    state.lent = 0
    state.period = period
  }
  // One life later, because the last lot may have been used at its end.
  const isWhole = state.arrival + life <= now && state.lent + state.before === 0
  if (isWhole) state.period = 0
}

function timeOf(permits: number, { quota, window }: SharedRequest): number {
  return Math.ceil((permits * window) / quota)
}

function take(state: State, request: SharedRequest, now: number, deficit: number): Counted {
  const { quota, window, life, monthQuota, need, immediate } = request
  let capacity = quota === 0 || state.period === 0 ? window : window - life
  const charge = quota > 0 ? Math.min(timeOf(need, request), capacity) : 0
  const left = monthQuota > 0 ? monthQuota - state.used : Infinity
  let granted = 0
  let taken = 0
  if (deficit + charge <= capacity && Math.min(need, monthQuota) <= left && need > 0) {
    const room = quota > 0 ? Math.floor(((capacity - deficit) * quota) / window) : Infinity
    const used = Math.max(need, Math.min(immediate, room, left))
    const extra = extraOf(request, deficit, used, left - used)
    granted = used + extra
    taken = quota === 0 ? 0 : granted > need ? timeOf(granted, request) : charge
    if (quota > 0 && isAlmostWhole(state, request, deficit)) state.since = now
    if (quota > 0 && extra > 0) {
      state.period = Math.max(state.period, Math.floor(now / (2 * life)))
      state.lent += extra
      capacity = window - life
    }
    if (monthQuota > 0) state.used += Math.min(granted, left)
  }
  if (deficit + taken > 0) state.arrival = now + deficit + taken
  const { used, monthEnd } = state
  const reply = { granted, now, deficit: deficit + taken, capacity, used, monthEnd }
  return { text: Object.values(state).join(' '), keepFor: keepFor(state, request, now), reply }
}

function isAlmostWhole(state: State, request: SharedRequest, deficit: number): boolean {
  return deficit <= timeOf(state.lent + state.before + MARGIN, request)
}

/** Returns how many permits to lend: a tenth of what is left, or a fifth of what one life refills. */
function extraOf(request: SharedRequest, deficit: number, used: number, left: number): number {
  const { quota, window, life, ahead } = request
  if (ahead === 0) return 0
  let rest = left
  let share = 1
  if (quota > 0) {
    const free = window - life - deficit - timeOf(used, request)
    rest = Math.min(rest, Math.floor((free * quota) / window))
    share = Math.ceil((quota * life) / window / 5)
  }
  return Math.max(0, Math.min(ahead, Math.max(Math.floor(rest / 10), Math.min(rest, share))))
}

/** Returns how long the state matters, in ms. */
function keepFor(state: State, { life }: SharedRequest, now: number): number {
  const burst = Math.max(state.arrival + life - now, state.period > 0 ? 4 * life : 0)
  const month = state.used > 0 ? state.monthEnd - now : 0
  return Math.ceil(Math.max(burst, month, 1) / 1_000)
}
