import type { HistoryDay, HistoryProvider } from '../../../src/index.ts'
import { parseBody } from '../../../src/upstream/feed.ts'
import { readText } from '../../../src/upstream/request.ts'
import { SECRET, answer, later, wireError } from '../../faults/fault.ts'
import { addDays, toDay } from '../../fixtures/dates.ts'
import { daysOf, isWeekend } from '../../oracle.ts'
import { DAY, HOUR, MINUTE } from '../../virtual-runtime.ts'
import type { Scene } from './fleet.ts'
import type { Process } from './machine.ts'
import type { Random } from './random.ts'

/**
 * The forms in which banks publish: any range in one call, files of whole years, ranges limited in days, a table per day with
 * series of a currency, series alone, and files of months and quarters.
 */
export const BANK_FORMS = [
  'range',
  'years',
  'windows',
  'tables',
  'series',
  'months',
  'quarters',
] as const

export type BankForm = (typeof BANK_FORMS)[number]

/** Days of a publication; the end of its newest days; and how many days in a row a fault takes away. */
interface Pace {
  frequency: 'daily' | 'monthly' | 'quarterly'
  isPublished(day: string): boolean
  newestDays: number
  gap: number
}

const HOLIDAYS = ['01-01', '12-25', '12-26']

const isWorkingDay = (day: string): boolean => !isWeekend(day) && !HOLIDAYS.includes(day.slice(5))

const DAILY: Pace = { frequency: 'daily', isPublished: isWorkingDay, newestDays: 45, gap: 16 }

const PACES: Partial<Record<BankForm, Pace>> = {
  months: {
    frequency: 'monthly',
    isPublished: (day) =>
      isWorkingDay(day) && !daysOf(`${day.slice(0, 8)}01`, addDays(day, -1)).some(isWorkingDay),
    newestDays: 150,
    gap: 4,
  },
  quarters: {
    frequency: 'quarterly',
    isPublished: (day) => /-(03|06|09|12)-3[01]$/.test(day) && addDays(day, 1).endsWith('-01'),
    newestDays: 400,
    gap: 2,
  },
}

const MAX_DAYS: Partial<Record<BankForm, number>> = {
  years: 366,
  windows: 93,
  tables: 1,
  months: 31,
}

/** Units per dollar. Neither the latest rates nor those of the European Central Bank have these currencies. */
const FIRST: Readonly<Record<string, number>> = {
  RON: 4.35,
  MYR: 4.2,
  ISK: 122,
  PEN: 3.4,
  PHP: 58,
  KZT: 520,
  RSD: 101,
  VND: 26_300,
  GEL: 2.7,
  UYU: 40,
  LKR: 300,
  CRC: 505,
}

/** What a fault does to a response; `lost` are days that it lacks. */
interface Fault {
  id: string
  /** The piece that it concerns, unless it concerns the whole bank. */
  year: string
  code: string
  from: number
  to: number
  hits(request: BankRequest): boolean
  spoil: Spoil
}

type Spoil =
  | {
      kind: 'fails'
      respond(signal: AbortSignal): Response | Promise<Response>
      /** Whether it asks for a pause, which may be meant for the whole bank. */
      isPause?: boolean
    }
  | { kind: 'loses'; isLost(index: number, count: number): boolean }
  | { kind: 'scales'; change(value: number): number; codes: readonly string[] }
  | { kind: 'holds back' }
  | { kind: 'corrects' }

/** Days from `start` to `end` of all currencies, or of `code`. Times in ms of virtual time. */
export interface BankRequest {
  start: string
  end: string
  code?: string
  isOld: boolean
}

/** A response that a fault spoiled: the days that it lacks or that are wrong, or those of a request that failed. */
export interface Trouble extends Omit<BankRequest, 'isOld'> {
  kind: Spoil['kind']
  at: number
  /** Whether it concerns all questions: the newest days, or a pause that the bank asked for. */
  isOfAll: boolean
}

export type Bank = ReturnType<typeof createBank>
export type Banks = ReturnType<typeof createBanks>

/** Names of the faults that only banks have. */
export const BANK_FAULTS: readonly string[] = [
  ...['truncated', 'gap', 'scaled', 'late', 'corrected', 'down', 'hangs'],
  ...['400', '404', '429', '503'],
].map((name) => `bank-${name}`)

/** Banks with the forms of this seed, whose rates are those of one market. */
export function createBanks(scene: Scene, note: (fault: string) => void) {
  const market = createMarket(scene)
  const banks = scene.banks.map((form, index) => createBank(scene, { form, index, market, note }))
  return {
    all: banks,
    providers: () => banks.map(createProvider),
    find: (host: string) => banks.find((bank) => bank.host === host),
    named: (name: unknown) => banks.find((bank) => bank.name === name),
  }
}

type Market = (code: string, day: string) => number

/** A random walk that returns to its first rate, so that no rate is ever far from it. */
function createMarket({ random, startsAt, duration }: Scene): Market {
  const first = Math.floor(startsAt / DAY) - 7 * 366
  const count = 7 * 366 + Math.ceil(duration / DAY) + 10
  const walks = new Map<string, Float64Array>()
  return (code, day) => {
    let walk = walks.get(code)
    if (!walk) {
      const own = random.fork(code)
      const usual = FIRST[code] ?? NaN
      let rate = usual
      walk = Float64Array.from({ length: count }, () => {
        return (rate *= (1 + own.between(-0.008, 0.008)) * (usual / rate) ** 0.02)
      })
      walks.set(code, walk)
    }
    return walk[Date.parse(day) / DAY - first] ?? NaN
  }
}

interface Founded {
  form: BankForm
  random: Random
  since: string
  codes: readonly string[]
}

interface Founding {
  form: BankForm
  index: number
  market: Market
  note(fault: string): void
}

function createBank(scene: Scene, { form, index, market, note }: Founding) {
  const { loop, startsAt, duration, trace } = scene
  const random = scene.random.fork(`bank ${index}`)
  const pace = PACES[form] ?? DAILY
  const { isPublished, newestDays } = pace
  const [base = '', ...codes] = shuffled(random, Object.keys(FIRST)).slice(0, random.whole(6, 8))
  // Within the five years of the first source, which is asked first where a client names none.
  const since = toDay(startsAt - random.whole(1_000, 1_650) * DAY)
  const days = daysOf(since, toDay(startsAt + duration + 5 * DAY)).filter(isPublished)
  const isPriced = random.chance(0.5)
  const arrivals = createArrivals(scene, random, days)
  const corrections = new Map<string, number>()
  const troubles: Trouble[] = []
  const known = new WeakMap<Process, number>()
  const rows = new Map<string, Record<string, number>>()
  const texts = new Map<string, string>()
  const now = (): string => toDay(startsAt + loop.now())
  let old = { last: '', days: Array<string>() }

  function row(day: string): Record<string, number> {
    let found = rows.get(day)
    if (!found) {
      const quote = (code: string): number => market(code, day) / market(base, day)
      const rounded = (code: string): number =>
        Number((isPriced ? 1 / quote(code) : quote(code)).toPrecision(7))
      found = Object.fromEntries(codes.map((code) => [code, rounded(code)]))
      rows.set(day, found)
    }
    return found
  }

  function jsonOf(day: string): string {
    const json = texts.get(day) ?? `"${day}":${JSON.stringify(row(day))}`
    texts.set(day, json)
    return json
  }

  /** Returns what may have been published for `code` on `day`: usually one number, units of `code` for one of the base. */
  function published(day: string, code: string): number[] {
    if (code === base) return [1]
    const own = row(day)[code] ?? NaN
    const corrected = corrections.get(`${day} ${code}`)
    const values = corrected === undefined ? [own] : [own, corrected]
    return isPriced ? values.map((value) => 1 / value) : values
  }

  const bank = {
    form,
    index,
    random,
    id: `sim-${form}-${index}`,
    name: `Bank of ${form} ${index}`,
    host: `bank-${index}.example`,
    base,
    codes,
    all: [base, ...codes] as readonly string[],
    days: days as readonly string[],
    since,
    pace,
    isPriced,
    isPublished: (day: string) => day >= since && isPublished(day),
    published,
    troubles,
    /** When `process` first got newest days without a fault, in ms of virtual time. */
    knownSince: (process: Process) => known.get(process) ?? Infinity,
    /** Returns the year and the currency whose piece the bank refuses now, or `undefined`. */
    refused: () =>
      faults.find(({ from, to, spoil, id }) => {
        return from <= loop.now() && loop.now() < to && spoil.kind === 'fails' && id !== 'bank-down'
      }),
    /** Returns the published days that are old enough to be there. */
    oldDays() {
      const last = addDays(now(), -newestDays)
      if (last !== old.last) old = { last, days: days.filter((day) => day <= last) }
      return old.days
    },
    today: now,
    respond: async (process: Process, url: URL, signal: AbortSignal): Promise<Response> => {
      const [start = '', end = '', code] = ['start', 'end', 'code'].map(
        (name) => url.searchParams.get(name) ?? undefined,
      )
      const today = now()
      const isSeries = code !== undefined && start < addDays(today, -400)
      const isOld = isSeries || end < addDays(today, -newestDays)
      const request: BankRequest = { start, end, isOld, ...(code !== undefined && { code }) }
      const fault = faults.find(({ from, to, hits, spoil }) => {
        const isOn = from <= loop.now() && loop.now() < to
        return isOn && spoil.kind !== 'corrects' && hits(request)
      })
      const after = (delay: number, callback: () => void): void =>
        void loop.after(delay, callback, process)
      const about = `${code ?? form} ${start} ${end}`
      trace.record(loop.now(), process.host, `fetches ${about}`, fault?.id ?? '')
      if (fault) note(fault.id)
      const report = (kind: Spoil['kind'], first = start, last = end): void => {
        const isPause = spoil?.kind === 'fails' && spoil.isPause === true
        const isOfAll = isPause || end >= addDays(today, -newestDays)
        const own = { kind, at: loop.now(), start: first, end: last, isOfAll }
        troubles.push(code === undefined ? own : { ...own, code })
      }
      const spoil = fault?.spoil
      await later({ after, signal }, random.between(20, 400))
      if (spoil?.kind === 'fails') {
        report('fails')
        return spoil.respond(signal)
      }
      let wanted = days.filter((day) => day >= start && day <= end && arrivals(day) <= loop.now())
      if (spoil?.kind === 'holds back') {
        const held = wanted.filter((day) => arrivals(day) > (fault?.from ?? Infinity))
        if (held.length > 0) report('holds back', held[0])
        wanted = wanted.filter((day) => !held.includes(day))
      }
      if (spoil?.kind === 'loses') {
        const { length } = wanted
        const lost = wanted.filter((_, index) => spoil.isLost(index, length))
        if (lost.length >= pace.gap) {
          report('loses', lost[0], lost.at(-1))
          wanted = wanted.filter((day) => !lost.includes(day))
        }
      }
      if (!spoil && !isOld && wanted.length > 0 && !known.has(process))
        known.set(process, loop.now())
      const scaled = spoil?.kind === 'scales' ? spoil.codes : []
      const text = wanted.map((day) => {
        const values = row(day)
        if (code === undefined && spoil?.kind !== 'scales' && corrections.size === 0)
          return jsonOf(day)
        const chosen = (code === undefined ? codes : [code]).map((each) => {
          const value = corrections.get(`${day} ${each}`) ?? values[each] ?? NaN
          const isScaled = spoil?.kind === 'scales' && scaled.includes(each)
          return [each, isScaled ? spoil.change(value) : value]
        })
        return `"${day}":${JSON.stringify(Object.fromEntries(chosen))}`
      })
      if (spoil?.kind === 'scales' && wanted.length > 0) report('scales', wanted[0], wanted.at(-1))
      return answer(`{"base":"${base}","days":{${text.join()}}}`)
    },
  }
  const faults = planFaults(scene, { form, random, since, codes })
  for (const { spoil, from, id } of faults) {
    if (spoil.kind !== 'corrects') continue
    loop.after(from, () => {
      const day = random.pick(days.filter((each) => arrivals(each) <= loop.now()))
      const code = random.pick(codes)
      const value = Number(((row(day)[code] ?? NaN) * random.pick([1.004, 0.996])).toPrecision(7))
      corrections.set(`${day} ${code}`, value)
      note(id)
    })
  }
  return bank
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

/** Returns a function that returns when the rates of a day are there, in ms of virtual time. */
function createArrivals(scene: Scene, random: Random, days: readonly string[]) {
  const { startsAt, calmFrom, lateShare } = scene
  const late = new Map<string, number>()
  for (const day of days) {
    const due = Date.parse(day) + 14 * HOUR - startsAt
    if (due < -2 * DAY) continue
    const isLate = due < calmFrom && random.chance(lateShare)
    late.set(day, due + (isLate ? random.magnitude(MINUTE, 20 * HOUR) : random.between(0, MINUTE)))
  }
  return (day: string): number => late.get(day) ?? -Infinity
}

const down = (
  status: number,
  headers: Record<string, string> = {},
): Extract<Spoil, { kind: 'fails' }> => ({
  kind: 'fails',
  respond: () => answer(SECRET, status, headers),
  isPause: status === 429 || 'retry-after' in headers,
})

/** Plans the faults of a bank until `calmFrom`, each for minutes to days: of one piece, or of the whole bank. */
function planFaults(scene: Scene, bank: Founded): Fault[] {
  const { calmFrom, faultShare, faultNames, startsAt } = scene
  const random = bank.random.fork('faults')
  const ids = random.some(
    BANK_FAULTS.filter((id) => faultNames.test(`${id}: ${bank.form}`)),
    faultShare === 1 ? 1 : Math.min(1, 2 * faultShare),
  )
  const faults: Fault[] = []
  if (ids.length === 0) return faults
  const firstYear = Number(bank.since.slice(0, 4))
  const lastYear = Number(toDay(startsAt).slice(0, 4)) - 1
  for (let from = random.wait(12 * HOUR); from < calmFrom; from += random.wait(1.5 * DAY)) {
    const id = random.pick(ids)
    const to = Math.min(from + random.magnitude(10 * MINUTE, 4 * DAY), calmFrom)
    const year = String(random.whole(firstYear, lastYear))
    const code = random.pick(bank.codes)
    const isOfPiece = ({ start, isOld, code: asked }: BankRequest): boolean =>
      isOld && (asked === undefined ? start.startsWith(year) : asked === code)
    const [share, turned] = [random.between(0.2, 0.7), random.pick([0.01, 100, -1])]
    const codes = [code, ...random.some(bank.codes, random.pick([0, 0.3, 1]))]
    const headers = random.pick([{}, { 'retry-after': String(random.whole(5, 600)) }])
    const hang = { after: () => undefined }
    const spoils: Record<string, Spoil> = {
      'bank-truncated': { kind: 'loses', isLost: (at, count) => at >= share * count },
      'bank-gap': {
        kind: 'loses',
        isLost: (at, count) => at >= share * count && at < (share + 0.25) * count,
      },
      'bank-scaled': {
        kind: 'scales',
        change: (value) => Number((turned < 0 ? 1 / value : value * turned).toPrecision(7)),
        codes,
      },
      'bank-late': { kind: 'holds back' },
      'bank-corrected': { kind: 'corrects' },
      'bank-down': random.pick([
        down(503),
        down(500),
        { ...down(0), respond: () => Promise.reject(wireError('ECONNREFUSED')) },
      ]),
      'bank-hangs': {
        ...down(0),
        respond: async (signal) => {
          await later({ ...hang, signal }, Infinity)
          return answer('')
        },
      },
      'bank-400': down(400),
      'bank-404': down(404),
      'bank-429': down(429, headers),
      'bank-503': down(503, headers),
    }
    const spoil = spoils[id]
    const hits =
      id === 'bank-down'
        ? () => true
        : id === 'bank-late'
          ? ({ isOld }: BankRequest) => !isOld
          : isOfPiece
    if (spoil) faults.push({ id, year, code, from, to, hits, spoil })
  }
  return faults
}

/** A provider as an application would write it for `bank`. */
function createProvider(bank: Bank): HistoryProvider {
  const { form, base, codes, since, pace, isPriced, host } = bank
  const maxDays = MAX_DAYS[form]

  type Context = Parameters<HistoryProvider['fetchHistory']>[1]
  interface Range {
    start: string
    end: string
    code?: string
  }

  async function read({ start, end, code }: Range, context: Context) {
    const query = `start=${start}&end=${end}${code === undefined ? '' : `&code=${code}`}`
    const url = `https://${host}/${SECRET}/?${query}`
    const request = { ...context, url, maxBytes: 4 << 20, redirectHosts: [] }
    return parseBody(await readText(request, 'application/json'), (text) => {
      const { base: sent, days } = JSON.parse(text)
      if (sent !== base) throw new Error('another base')
      return Object.entries<Record<string, number>>(days)
    })
  }

  async function fetchAll(given: Range, spans: (range: Range) => Range[], context: Context) {
    const today = toDay(context.now() + DAY)
    const range = {
      ...given,
      start: given.start < since ? since : given.start,
      end: given.end > today ? today : given.end,
    }
    const found = new Map<string, Record<string, number>>()
    for (const span of range.start > range.end ? [] : spans(range)) {
      for (const [date, values] of await read(span, context)) {
        if (date >= range.start && date <= range.end) {
          found.set(date, { ...found.get(date), ...values })
        }
      }
    }
    const length = (Date.parse(range.end) - Date.parse(range.start)) / DAY
    if (found.size === 0 && length > EMPTY_DAYS[pace.frequency]) throw new Error('no rates')
    const days = [...found]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([date, values]): HistoryDay =>
        isPriced ? { date, rates: {}, prices: values } : { date, rates: values },
      )
    return { base, days }
  }

  const spansOf = (range: Range): Range[] => {
    if (form === 'years') return yearsOf(range)
    if (form === 'series') return codes.map((code) => ({ ...range, code }))
    return maxDays === undefined ? [range] : piecesOf(range, maxDays)
  }

  return {
    attribution: { name: bank.name, url: `https://${host}/about` },
    sanityChecks: pace.frequency === 'daily',
    publication: {
      id: bank.id,
      frequency: pace.frequency,
      holidays: HOLIDAYS,
      time: '14:00',
      timeZone: 'UTC',
      since,
      ...(form === 'quarters' && { dated: 'period-end', holidays: [], weekend: [] }),
    },
    ...(maxDays !== undefined && { maxDays }),
    fetchHistory: (range, context) => fetchAll(range, spansOf, context),
    ...((form === 'series' || form === 'tables') && {
      fetchSeries: (range, context) => fetchAll(range, (own) => [own], context),
    }),
  }
}

const EMPTY_DAYS = { daily: 10, monthly: 62, quarterly: 186 }

function yearsOf({ start, end }: { start: string; end: string }) {
  const first = Number(start.slice(0, 4))
  const count = Number(end.slice(0, 4)) - first + 1
  return Array.from({ length: count }, (_, index) => {
    return { start: `${first + index}-01-01`, end: `${first + index}-12-31` }
  })
}

function piecesOf({ start, end }: { start: string; end: string }, length: number) {
  const pieces = []
  for (let first = start; first <= end; first = addDays(first, length)) {
    const last = addDays(first, length - 1)
    pieces.push({ start: first, end: last < end ? last : end })
  }
  return pieces
}
