import { HISTORY_SOURCE, LATEST_SOURCE } from '../../fixtures/contract.ts'
import { toDay } from '../../fixtures/dates.ts'
import { periodStart, statsOf } from '../../oracle.ts'
import type { Point } from '../../oracle.ts'
import type { RecordAsked } from '../world/clients.ts'
import type { Oracle } from './oracle.ts'
import { isModified, objectToRate, objectToTable } from './tables.ts'
import type { Limits, Table } from './tables.ts'

/** An objection to a record: an invariant, and how it is broken. */
type Objection = readonly [invariant: string, message: string]

interface Circumstances {
  oracle: Oracle
  /** The clock of the process that answered, ms since the Unix epoch. */
  clock: number
  /** The latest rates that the process may have held, and the limits of the age of its earlier rates. */
  tables: readonly Table[]
  limits: Limits
  /** Days of history, or rates of a day, that the process may lack: `2026-11-19 USD`. */
  missing: ReadonlySet<string>
  /** In ms since the Unix epoch. */
  lastModified: number
}

type Json = Record<string, unknown>

export function objectToRecord(
  text: string,
  asked: RecordAsked,
  circumstances: Circumstances,
): Objection | undefined {
  const body = toObject(JSON.parse(text))
  if (asked.kind === 'latest') return objectToLatest(body, asked, circumstances)
  if (asked.kind === 'conversion') return objectToConversion(body, asked, circumstances)
  if (asked.kind === 'history') return objectToHistory(body, asked, circumstances)
  return objectToStatus(body)
}

type Asked<Kind> = Extract<RecordAsked, { kind: Kind }>

function objectToLatest(
  body: Json,
  { base, symbols, isVersioned }: Asked<'latest'>,
  { tables, limits, lastModified }: Circumstances,
): Objection | undefined {
  const { updatedAt, nextUpdateAt, older = {} } = body
  const rates = toRates(body['rates'])
  if (!rates) return ['I2', 'a rate is no finite positive number']
  if (body['base'] !== base)
    return ['I15', `${base} is asked for, ${String(body['base'])} answered`]
  if (!isInstant(updatedAt) || !isInstant(nextUpdateAt)) return ['I2', 'a time is none']
  const answered = { base, symbols, rates, updatedAt, nextUpdateAt }
  const complete = { ...answered, older: isVersioned ? toObject(older) : undefined }
  return (
    objectToSource(body, isVersioned, LATEST_SOURCE) ??
    objectToAll(tables, { updatedAt, lastModified }, (table) =>
      objectToTable(table, complete, limits),
    )
  )
}

/** Returns the first objection where an answer is from none of `tables`. */
function objectToAll(
  tables: readonly Table[],
  { updatedAt, lastModified }: { updatedAt: number; lastModified: number },
  objectTo: (table: Table) => string | undefined,
): Objection | undefined {
  const objections = tables.map((table) => {
    if (isModified(table, updatedAt, lastModified)) return objectTo(table)
    return `what was published at ${updatedAt} has Last-Modified ${lastModified}`
  })
  const [objection = 'nothing is held'] = objections
  return objections.includes(undefined) ? undefined : ['I3', objection]
}

function objectToConversion(
  body: Json,
  { from, to, amount, isVersioned }: Asked<'conversion'>,
  { tables, lastModified }: Circumstances,
): Objection | undefined {
  const { rate, result, updatedAt } = body
  if (body['from'] !== from || body['to'] !== to || body['amount'] !== amount) {
    return ['I15', `${amount} ${from} in ${to} is asked for, another conversion answered`]
  }
  if (!isRate(rate) || !isRate(result) || !isInstant(updatedAt)) {
    return ['I2', 'a number of the conversion is none']
  }
  if (Math.abs(result - amount * rate) > 1e-12 * result) {
    return ['I2', `${amount} times ${rate} is not ${result}`]
  }
  return (
    objectToSource(body, isVersioned, LATEST_SOURCE) ??
    objectToAll(tables, { updatedAt, lastModified }, (table) =>
      objectToRate(table, { from, to }, { rate, updatedAt }),
    )
  )
}

function objectToHistory(
  body: Json,
  { from, to, period }: Asked<'history'>,
  { oracle, clock, missing }: Circumstances,
): Objection | undefined {
  const { referenceRates } = oracle
  const { points: sent } = body
  if (body['from'] !== from || body['to'] !== to || body['period'] !== period) {
    return ['I15', `${from} in ${to} over ${period} is asked for, another history answered`]
  }
  if (!Array.isArray(sent) || sent.length === 0) return ['I2', 'there are no points']
  const points: Point[] = []
  for (const point of sent) {
    const { d, r } = toObject(point)
    if (typeof d !== 'string' || !isRate(r)) return ['I2', 'a point is none']
    const expected = pairRate(referenceRates.on(d), from, to)
    if (!(Math.abs(r - expected) <= 1e-9 * expected)) {
      return ['I3', `${from} was ${expected} ${to} on ${d}, not ${r}`]
    }
    points.push({ d, r })
  }
  const dates = points.map(({ d }) => d)
  const last = points.at(-1)?.d ?? ''
  const today = toDay(clock)
  if (last > today) return ['I4', `the history ends on ${last}, in the future`]
  const answered = new Set(dates)
  const isQuoted = (day: string): boolean =>
    oracle.isQuoted(day, { from, to }, answered.has(day) ? undefined : missing)
  const isWhole = possibleEnds(oracle, last, { today, isQuoted }).some((end) => {
    const window = referenceRates.between(periodStart(end, period), last)
    return window.filter(isQuoted).join() === dates.join()
  })
  if (!isWhole) return ['I3', `the days of ${period} are not ${dates.join()}`]
  if (JSON.stringify(body['stats']) !== JSON.stringify(statsOf(points))) {
    return ['I2', 'the statistics are not those of the points']
  }
  return objectToSource(body, true, HISTORY_SOURCE)
}

/** The days that may be the newest published where the last one of a pair is `last`: the next may lack one of the two. */
function possibleEnds(
  { referenceRates }: Oracle,
  last: string,
  { today, isQuoted }: { today: string; isQuoted: (day: string) => boolean },
): string[] {
  const [, ...later] = referenceRates.between(last, today)
  const next = later.find(isQuoted) ?? today
  return [last, ...later.filter((day) => !isQuoted(day) && day <= next)]
}

function objectToStatus(body: Json): Objection | undefined {
  const [latest, history] = [toObject(body['latest'])['ready'], toObject(body['history'])['ready']]
  const isTold = typeof latest === 'boolean' && typeof history === 'boolean'
  const isRight = isTold && body['ready'] === (latest && history)
  return isRight ? undefined : ['I2', 'whether the service is ready is not told']
}

/** Units of `to` for one of `from`; NaN where one is not quoted. */
function pairRate(rates = new Map<string, number>(), from: string, to: string): number {
  const inEuro = (code: string): number => rates.get(code) ?? (code === 'EUR' ? 1 : NaN)
  return rates.size > 0 ? inEuro(to) / inEuro(from) : NaN
}

function objectToSource(body: Json, isVersioned: boolean, source: Source): Objection | undefined {
  const { name, url } = toObject(body['source'])
  const isNamed = isVersioned
    ? name === source.name && url === source.url
    : body['provider'] === `${source.name} (${source.url})`
  return isNamed ? undefined : ['I3', 'the source is not named']
}

type Source = typeof LATEST_SOURCE

function toObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** `value` as rates by code, or `undefined` if one is not a rate. */
function toRates(value: unknown): Record<string, number> | undefined {
  const all = Object.entries(toObject(value))
  const rates = all.flatMap(([code, rate]) => (isRate(rate) ? [[code, rate] as const] : []))
  return rates.length === all.length ? Object.fromEntries(rates) : undefined
}

function isRate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}

function isInstant(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
