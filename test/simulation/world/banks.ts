import { bank as factoryOf } from '../../../src/upstream/bank.ts'
import { yearsOf } from '../../../src/upstream/published.ts'
import { SECRET, answer, later, wireError } from '../../faults/fault.ts'
import { addDays, toDay } from '../../fixtures/dates.ts'
import { daysOf, isWeekend } from '../../oracle.ts'
import { DAY, HOUR, MINUTE } from '../../virtual-runtime.ts'
import type { Scene } from './fleet.ts'
import type { Process } from './machine.ts'
import type { Random } from './random.ts'
import { quotesOf } from './truth.ts'

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

type BankForm = (typeof BANK_FORMS)[number]

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
    isPublished: (day) => day.endsWith('-01'),
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
const FIRST = quotesOf(
  'RON 4.35,MYR 4.2,ISK 122,PEN 3.4,PHP 58,KZT 520,RSD 101,VND 26300,GEL 2.7,UYU 40,LKR 300,CRC 505',
)

/** A fault of a piece or of the whole bank. Times in ms of virtual time. */
interface Fault extends Effect {
  id: string
  /** The piece that it concerns, unless it concerns the whole bank. */
  year: string
  code: string
  from: number
  to: number
  hits(request: BankRequest): boolean
}

interface Effect {
  kind: 'fails' | 'loses' | 'scales' | 'is late' | 'corrects'
  respond?(signal: AbortSignal): Response | Promise<Response>
  /** Whether the response asks for a pause, which may be meant for the whole bank. */
  isPause?: boolean
  isLost?(index: number, count: number): boolean
  /** `first` is the first rate of the currency. */
  change?(value: number, first: number): number
  codes?: readonly string[]
}

/** Days from `start` to `end` of `code`, or of all currencies. */
interface BankRequest {
  start: string
  end: string
  /** Empty for all currencies. */
  code: string
  isOld: boolean
}

/** A response that a fault spoiled: the days that it lacks or that are wrong, or those of a request that failed. */
export interface Trouble extends Omit<BankRequest, 'isOld'> {
  kind: Fault['kind']
  at: number
  /** Whether it concerns all questions: the newest days, or a pause that the bank asked for. */
  isOfAll: boolean
}

type Note = (fault: string) => void
export type Bank = ReturnType<typeof createBank>
export type Banks = ReturnType<typeof createBanks>

export const BANK_FAULTS: readonly string[] =
  'truncated gap scaled late corrected down hangs 400 404 429 503'
    .split(' ')
    .map((name) => `bank-${name}`)

/** Banks with the forms of this seed, whose rates are those of one market. */
export function createBanks(scene: Scene, note: Note) {
  const market = createMarket(scene)
  const banks = scene.banks.map((form, index) => createBank(scene, form, index, market, note))
  return {
    all: banks,
    providers: () => banks.map(({ create }) => create()),
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

type Origin = ReturnType<typeof foundBank>

function foundBank({ startsAt }: Scene, form: BankForm, index: number, random: Random) {
  const [base = '', ...codes] = shuffled(random, Object.keys(FIRST)).slice(0, random.whole(6, 8))
  return {
    form,
    id: `sim-${form}-${index}`,
    name: `Bank of ${form} ${index}`,
    host: `bank-${index}.example`,
    base,
    codes,
    // Within the five years of the first source, which is asked first where a client names none.
    since: toDay(startsAt - random.whole(1_000, 1_650) * DAY),
    pace: PACES[form] ?? DAILY,
    isPriced: random.chance(0.5),
  }
}

function createBank(scene: Scene, form: BankForm, index: number, market: Market, note: Note) {
  const { loop, startsAt, duration, trace } = scene
  const random = scene.random.fork(`bank ${index}`)
  const origin = foundBank(scene, form, index, random)
  const { base, codes, since, pace, isPriced } = origin
  const days = daysOf(since, toDay(startsAt + duration + 5 * DAY)).filter(pace.isPublished)
  const arrivals = createArrivals(scene, random, days)
  const faults = planFaults(scene, { form, since, codes, random: random.fork('faults') })
  const corrections = new Map<string, number[]>()
  const known = new WeakMap<Process, number>()
  const rows = new Map<string, Record<string, number>>()
  const troubles: Trouble[] = []
  let old = { last: '', days: Array<string>() }

  const newestFrom = (): string => addDays(toDay(startsAt + loop.now()), -pace.newestDays)
  const isOn = ({ from, to }: Fault): boolean => from <= loop.now() && loop.now() < to

  function row(day: string): Record<string, number> {
    let found = rows.get(day)
    if (found === undefined) {
      const values = codes.map((code) => {
        const rate = market(code, day) / market(base, day)
        return [code, Number((isPriced ? 1 / rate : rate).toPrecision(7))] as const
      })
      found = Object.fromEntries(values) satisfies Record<string, number>
      rows.set(day, found)
    }
    return found
  }

  function quote(day: string, code: string, fault: Fault | undefined) {
    const value = corrections.get(`${day} ${code}`)?.at(-1) ?? row(day)[code] ?? NaN
    const isChanged = fault?.change && fault.codes?.includes(code)
    const { [code]: first = value } = row(days[0] ?? day)
    return [day, code, isChanged ? fault.change?.(value, first) : value]
  }

  function respond(request: BankRequest, fault: Fault | undefined, process: Process): Response {
    const { start, end, code, isOld } = request
    const there = days.filter((day) => day >= start && day <= end && arrivals(day) <= loop.now())
    const isMissing = (day: string, at: number): boolean =>
      fault?.kind === 'is late'
        ? arrivals(day) > fault.from
        : fault?.isLost?.(at, there.length) === true
    const missing = there.filter(isMissing)
    const isSpoiled = fault?.kind === 'is late' || missing.length >= pace.gap
    const sent = isSpoiled ? there.filter((day) => !missing.includes(day)) : there
    if (isSpoiled) report(request, fault, missing)
    else if (fault?.change) report(request, fault, sent)
    else if (!isOld && sent.length > 0 && !known.has(process)) known.set(process, loop.now())
    const wanted = code === '' ? codes : [code]
    return answer(
      JSON.stringify(sent.flatMap((day) => wanted.map((each) => quote(day, each, fault)))),
    )
  }

  function report(
    request: BankRequest,
    fault: Fault | undefined,
    spoiled: readonly string[],
  ): void {
    const [start, end] = [spoiled[0], spoiled.at(-1)]
    if (!fault || start === undefined || end === undefined) return
    note(fault.id)
    const isOfAll = fault.isPause === true || request.end >= newestFrom()
    troubles.push({ kind: fault.kind, at: loop.now(), start, end, code: request.code, isOfAll })
  }

  function correct(id: string): void {
    const day = random.pick(days.filter((each) => arrivals(each) <= loop.now()))
    const code = random.pick(codes)
    const value = (row(day)[code] ?? NaN) * random.pick([1.004, 0.996])
    const key = `${day} ${code}`
    corrections.set(key, [...(corrections.get(key) ?? []), Number(value.toPrecision(7))])
    note(id)
  }

  for (const { kind, id, from } of faults) {
    if (kind === 'corrects') loop.after(from, () => correct(id))
  }
  return {
    ...origin,
    create: createProvider(origin),
    all: [base, ...codes] as readonly string[],
    troubles,
    isPublished: (day: string) => day >= since && pace.isPublished(day),
    /** Returns what may have been published for `code` on `day`, in units for one of the base: usually one number. */
    published(day: string, code: string): number[] {
      if (code === base) return [1]
      const values = [row(day)[code] ?? NaN, ...(corrections.get(`${day} ${code}`) ?? [])]
      return isPriced ? values.map((value) => 1 / value) : values
    },
    oldDays(): readonly string[] {
      const last = newestFrom()
      if (last !== old.last) old = { last, days: days.filter((day) => day <= last) }
      return old.days
    },
    /** When `process` first got newest days without a fault, in ms of virtual time. */
    knownSince: (process: Process) => known.get(process) ?? Infinity,
    failing: () =>
      faults.find((each) => isOn(each) && each.kind === 'fails' && each.id !== 'bank-down'),
    async respond(process: Process, url: URL, signal: AbortSignal): Promise<Response> {
      const parameter = (name: string): string => url.searchParams.get(name) ?? ''
      const [start, end, code] = [parameter('start'), parameter('end'), parameter('code')]
      const newest = newestFrom()
      const isSeries = code !== '' && start < addDays(newest, -400)
      const request: BankRequest = { start, end, code, isOld: isSeries || end < newest }
      const fault = faults.find((each) => isOn(each) && each.hits(request))
      const about = `${code === '' ? form : code} ${start} ${end}`
      trace.record(loop.now(), process.host, `fetches ${about}`, fault?.id ?? '')
      const after = (delay: number, work: () => void): void => void loop.after(delay, work, process)
      await later({ after, signal }, random.between(20, 400))
      if (!fault?.respond) return respond(request, fault, process)
      report(request, fault, [start, end])
      return fault.respond(signal)
    },
  }
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

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

interface Victim {
  form: BankForm
  since: string
  codes: readonly string[]
  random: Random
}

/** Plans the faults of a bank until `calmFrom`, each for minutes to days. */
function planFaults(scene: Scene, { form, since, codes, random }: Victim): Fault[] {
  const { calmFrom, faultShare, faultNames, startsAt } = scene
  const possible = BANK_FAULTS.filter((id) => faultNames.test(`${id}: ${form}`))
  const ids = random.some(possible, Math.min(1, 2 * faultShare))
  const faults: Fault[] = []
  const [firstYear, lastYear] = [Number(since.slice(0, 4)), new Date(startsAt).getUTCFullYear() - 1]
  // Of two years with the same mistake, one confirms the other.
  const scaledYear = random.whole(firstYear, lastYear)
  for (let from = random.wait(12 * HOUR); from < calmFrom; from += random.wait(1.5 * DAY)) {
    if (ids.length === 0) break
    const id = random.pick(ids)
    const to = Math.min(from + random.magnitude(10 * MINUTE, 4 * DAY), calmFrom)
    const year = String(id === 'bank-scaled' ? scaledYear : random.whole(firstYear, lastYear))
    const code = random.pick(codes)
    const effect = drawEffect(random, id, [code, ...codes])
    const hits = ({ start, isOld, code: requested }: BankRequest): boolean => {
      if (id === 'bank-down') return true
      if (effect.kind === 'is late') return !isOld
      const isOfPiece = requested === '' ? start.startsWith(year) : requested === code
      return effect.kind !== 'corrects' && isOld && isOfPiece
    }
    faults.push({ id, year, code, from, to, hits, ...effect })
  }
  return faults
}

function drawEffect(random: Random, id: string, codes: readonly string[]): Effect {
  const [share, factor] = [random.between(0.2, 0.7), random.pick([0.01, 100, 0])]
  const pause = random.pick([{}, { 'retry-after': String(random.whole(5, 600)) }])
  const count = random.pick([1, 3, codes.length])
  const failing = (status: number, headers: Record<string, string> = {}): Effect => ({
    kind: 'fails',
    respond: () => answer(SECRET, status, headers),
    isPause: status === 429 || 'retry-after' in headers,
  })
  const isAfter = (at: number, of: number): boolean => at >= share * of
  const effects: Record<string, Effect> = {
    'bank-truncated': { kind: 'loses', isLost: isAfter },
    'bank-gap': {
      kind: 'loses',
      isLost: (at, of) => isAfter(at, of) && at < (share + 0.25) * of,
    },
    'bank-scaled': {
      kind: 'scales',
      // An inverse near the rate cannot be distinguished from it. All days of a currency are inverted, or none.
      change: (value, first) =>
        factor > 0 ? value * factor : first > 4 || first < 1 / 4 ? 1 / value : value,
      codes: codes.slice(0, count),
    },
    'bank-late': { kind: 'is late' },
    'bank-corrected': { kind: 'corrects' },
    'bank-hangs': {
      kind: 'fails',
      async respond(signal) {
        await later({ after: () => undefined, signal }, Infinity)
        return answer('')
      },
    },
    'bank-down': random.pick<Effect>([
      failing(503),
      failing(500),
      { kind: 'fails', respond: () => Promise.reject(wireError('ECONNREFUSED')) },
    ]),
    'bank-429': failing(429, pause),
    'bank-503': failing(503, pause),
  }
  return effects[id] ?? failing(Number(id.slice(-3)))
}

function createProvider({ form, base, codes, id, name, host, since, pace, isPriced }: Origin) {
  const query = ({ start, end }: Record<'start' | 'end', string>): string =>
    `/?start=${start}&end=${end}`
  const { frequency } = pace
  return factoryOf({
    name,
    page: `https://${host}/about`,
    root: `https://${host}/${SECRET}`,
    accept: 'application/json',
    base,
    currencies: codes.length,
    codes,
    latest: false,
    publication: {
      id,
      frequency,
      time: '14:00',
      timeZone: 'UTC',
      since,
      ...(frequency === 'daily' ? { holidays: HOLIDAYS.join(', ') } : { weekend: [] }),
      ...(form === 'quarters' && { dated: 'period-end' }),
    },
    ...(MAX_DAYS[form] !== undefined && { maxDays: MAX_DAYS[form] }),
    ...(form === 'years' && { spansOf: yearsOf }),
    ...(form !== 'series' && { requests: (span) => [query(span)] }),
    ...((form === 'series' || form === 'tables') && {
      series: (code, span) => `${query(span)}&code=${code}`,
    }),
    read(text) {
      const rows: [date: string, code: string, value: number][] = JSON.parse(text)
      return rows.map(([date, code, value]) => {
        return { date, code, ...(isPriced ? { price: value } : { rate: value }) }
      })
    },
  })
}
