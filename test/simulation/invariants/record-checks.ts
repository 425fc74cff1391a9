import { HISTORY_SOURCE, LATEST_SOURCE } from '../../fixtures/contract.ts'
import { toDay } from '../../fixtures/dates.ts'
import { periodStart, statsOf } from '../../oracle.ts'
import type { Point } from '../../oracle.ts'
import type { RequestedRecord } from '../world/clients.ts'
import type { Oracle } from '../world/truth.ts'
import { checkRate, checkTable, isModified } from './tables.ts'
import type { Limits, Table } from './tables.ts'

type Mismatch = readonly [invariant: string, message: string]

interface Circumstances {
  oracle: Oracle
  clock: number
  /** The latest rates that the process may serve, and the age limits of its earlier rates. */
  tables: readonly Table[]
  limits: Limits
  /** Days of history, or rates of a day, that the process may lack: `2026-11-19 USD`. */
  missing: ReadonlySet<string>
  lastModified: number
}

type Json = Record<string, unknown>

type Requested<Kind> = Extract<RequestedRecord, { kind: Kind }>

export function checkRecord(
  text: string,
  requested: RequestedRecord,
  circumstances: Circumstances,
): Mismatch | undefined {
  const body = toObject(JSON.parse(text))
  if (requested.kind === 'latest') return checkLatest(body, requested, circumstances)
  if (requested.kind === 'conversion') return checkConversion(body, requested, circumstances)
  if (requested.kind === 'history') return checkHistory(body, requested, circumstances)
  return checkStatus(body)
}

function checkLatest(
  body: Json,
  { base, symbols, isVersioned }: Requested<'latest'>,
  { tables, limits, lastModified }: Circumstances,
): Mismatch | undefined {
  const { updatedAt, nextUpdateAt, older = {} } = body
  const rates = toRates(body['rates'])
  if (!rates) return ['I2', 'a rate is not a finite positive number']
  if (body['base'] !== base) return ['I15', `requested base ${base}, got ${String(body['base'])}`]
  if (!isInstant(updatedAt) || !isInstant(nextUpdateAt))
    return ['I2', 'updatedAt or nextUpdateAt is not a time']
  const received = { base, symbols, rates, updatedAt, nextUpdateAt }
  const complete = { ...received, older: isVersioned ? toObject(older) : undefined }
  return (
    checkSource(body, isVersioned, LATEST_SOURCE) ??
    checkAll(tables, { updatedAt, lastModified }, (table) => checkTable(table, complete, limits))
  )
}

function checkAll(
  tables: readonly Table[],
  { updatedAt, lastModified }: { updatedAt: number; lastModified: number },
  objectTo: (table: Table) => string | undefined,
): Mismatch | undefined {
  const mismatches = tables.map((table) =>
    isModified(table, updatedAt, lastModified)
      ? objectTo(table)
      : `rates published at ${updatedAt} have Last-Modified ${lastModified}`,
  )
  const [mismatch = 'the process has no table'] = mismatches
  return mismatches.includes(undefined) ? undefined : ['I3', mismatch]
}

function checkConversion(
  body: Json,
  { from, to, amount, isVersioned }: Requested<'conversion'>,
  { tables, lastModified }: Circumstances,
): Mismatch | undefined {
  const { rate, result, updatedAt } = body
  if (body['from'] !== from || body['to'] !== to || body['amount'] !== amount) {
    return ['I15', `requested ${amount} ${from} in ${to}, got another conversion`]
  }
  if (!isRate(rate) || !isRate(result) || !isInstant(updatedAt)) {
    return ['I2', 'a field of the conversion is not a number or time']
  }
  if (Math.abs(result - amount * rate) > 1e-12 * result) {
    return ['I2', `${amount} × ${rate} is not ${result}`]
  }
  return (
    checkSource(body, isVersioned, LATEST_SOURCE) ??
    checkAll(tables, { updatedAt, lastModified }, (table) =>
      checkRate(table, { from, to }, rate, updatedAt),
    )
  )
}

function checkHistory(
  body: Json,
  { from, to, period }: Requested<'history'>,
  { oracle, clock, missing }: Circumstances,
): Mismatch | undefined {
  const { referenceRates } = oracle
  const { points: sent } = body
  if (body['from'] !== from || body['to'] !== to || body['period'] !== period) {
    return ['I15', `requested ${from} in ${to} over ${period}, got another history`]
  }
  if (!Array.isArray(sent) || sent.length === 0) return ['I2', 'the history has no points']
  const points: Point[] = []
  for (const point of sent) {
    const { d, r } = toObject(point)
    if (typeof d !== 'string' || !isRate(r)) return ['I2', 'a point has no day or no rate']
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
  const received = new Set(dates)
  const isQuoted = (day: string): boolean =>
    oracle.isQuoted(day, { from, to }, received.has(day) ? undefined : missing)
  // Days after the last one of a pair may lack one of both rates.
  const [, ...later] = referenceRates.between(last, today)
  const next = later.find(isQuoted) ?? today
  const ends = [last, ...later.filter((day) => !isQuoted(day) && day <= next)]
  const isWhole = ends.some((end) => {
    const window = referenceRates.between(periodStart(end, period), last)
    return window.filter(isQuoted).join() === dates.join()
  })
  if (!isWhole) return ['I3', `expected other days for ${period}, got ${dates.join()}`]
  if (JSON.stringify(body['stats']) !== JSON.stringify(statsOf(points))) {
    return ['I2', 'the statistics do not match the points']
  }
  return checkSource(body, true, HISTORY_SOURCE)
}

function checkStatus(body: Json): Mismatch | undefined {
  const [latest, history] = [toObject(body['latest'])['ready'], toObject(body['history'])['ready']]
  const isTold = typeof latest === 'boolean' && typeof history === 'boolean'
  const isRight = isTold && body['ready'] === (latest && history)
  return isRight ? undefined : ['I2', 'the status does not report whether the service is ready']
}

function pairRate(rates = new Map<string, number>(), from: string, to: string): number {
  const inEuro = (code: string): number => rates.get(code) ?? (code === 'EUR' ? 1 : NaN)
  return rates.size > 0 ? inEuro(to) / inEuro(from) : NaN
}

function checkSource(body: Json, isVersioned: boolean, source: Source): Mismatch | undefined {
  const { name, url } = toObject(body['source'])
  const isNamed = isVersioned
    ? name === source.name && url === source.url
    : body['provider'] === `${source.name} (${source.url})`
  return isNamed ? undefined : ['I3', 'the source is missing or wrong']
}

type Source = typeof LATEST_SOURCE

function toObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

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
