import type { LatestTruth as Publication } from '../../faults/fault.ts'
import { toDay } from '../../fixtures/dates.ts'
import { daysOf, isTargetDay } from '../../oracle.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../virtual-runtime.ts'
import type { Scene } from './fleet.ts'
import type { Random } from './random.ts'

export type { Publication }

export interface Truth {
  feed: ReturnType<typeof createLatestFeed>
  referenceRates: ReferenceRates
}

/** Units per dollar on the first day; enough codes that one in twenty may be bad. BGN is withdrawn. */
const FIRST_LATEST = quotesOf(
  'USD 1,AED 3.6725,AUD 1.5124,BGN 1.68442,BRL 5.4321,CAD 1.3712,CHF 0.81234,CLP 951.23,CNY 7.1821,COP 4021.5',
  'CZK 21.083,DKK 6.4321,EGP 48.512,EUR 0.86123,GBP 0.74321,HKD 7.8012,HUF 345.21,IDR 16432',
  'ILS 3.4123,INR 87.512,JPY 151.23,KRW 1398.2,KWD 0.30612,MXN 18.712,NGN 1532.1,NOK 10.123,NZD 1.7012',
  'PLN 3.6712,SEK 9.4512,SGD 1.2912,THB 32.512,TRY 41.512,UAH 41.872,ZAR 17.512',
)

export function quotesOf(...lines: string[]): Readonly<Record<string, number>> {
  const quotes = lines
    .join()
    .split(',')
    .map((quote) => quote.split(' '))
  return Object.fromEntries(quotes.map(([code = '', rate]) => [code, Number(rate)]))
}

export const LATEST_CODES: readonly string[] = Object.keys(FIRST_LATEST)

/** The true latest rates: one table a day, shortly after midnight UTC, from three days before the start. */
export function createLatestFeed(options: Scene) {
  const { random, startsAt, lateShare, calmFrom } = options
  const firstDay = Math.floor(startsAt / DAY) - 4
  const publications: (Publication & { availableAt: number })[] = []

  function publish(): void {
    const number = publications.length
    const nominal = (firstDay + number) * DAY + 151 * SECOND
    const isLate = nominal < startsAt + calmFrom && random.chance(lateShare)
    const delay = isLate ? random.magnitude(MINUTE, 3 * HOUR) : random.between(0, 45_000)
    publications.push({
      updatedAt: nominal,
      nextUpdateAt: nominal + DAY + random.whole(60, 1_200) * SECOND,
      availableAt: nominal + delay,
      rates: driftOfAll(publications.at(-1)?.rates ?? FIRST_LATEST, options),
    })
  }

  function newest(instant: number): number {
    let number = Math.max(0, Math.floor(instant / DAY) - firstDay)
    while (publications.length <= number) publish()
    while (number > 0 && (publications[number]?.availableAt ?? Infinity) > instant) number -= 1
    return number
  }

  function at(instant: number, back = 0): Publication {
    const found = publications[Math.max(0, newest(instant) - back)]
    if (!found) throw new Error('no table has been published yet')
    return found
  }

  return { at }
}

const DEVALUED = { EGP: 4, NGN: 4, TRY: 1.9, ZAR: 1.9 }

const OF_EURO = { BGN: 1.95583, DKK: 7.46 }

/** Returns `rates` a day later: none moves by more than 2 %, except a devalued one; official pegs hold. */
function driftOfAll(
  rates: Publication['rates'],
  { random, devaluedShare }: Scene,
): Publication['rates'] {
  const [devalued, most] = random.pick(Object.entries(DEVALUED))
  const isDevalued = random.chance(devaluedShare)
  const later = Object.entries(rates).map(([code, rate]): [string, number] => {
    const factor = isDevalued && code === devalued ? random.between(1.1, most) : 1
    return [code, code === 'USD' ? 1 : drift(rate * factor, FIRST_LATEST[code] ?? NaN, random, 6)]
  })
  const table = Object.fromEntries(later)
  const { AED = NaN, HKD = NaN } = FIRST_LATEST
  const ofEuro = Object.entries(OF_EURO).map(([code, ratio]) => {
    return [code, Number(((table['EUR'] ?? NaN) * ratio).toPrecision(6))]
  })
  return { ...table, AED, HKD, ...Object.fromEntries(ofEuro) }
}

const FIRST_REFERENCE = quotesOf(
  'USD 1.1612,CHF 0.9432,CZK 24.48,GBP 0.86312,INR 101.62,JPY 175.61,SEK 10.97',
)

export const REFERENCE_CODES: readonly string[] = Object.keys(FIRST_REFERENCE)

/** The true reference rates: one row per TARGET day, around 16:00 in Frankfurt. */
export type ReferenceRates = ReturnType<typeof createReferenceRates>

export function createReferenceRates(options: Scene) {
  const rows = createRows(options)
  const byDay = new Map(rows.map((row) => [row.day, row]))

  return {
    /** Returns the published rates of `day`, units per euro, or `undefined` if nothing is published on it. */
    on: (day: string) => byDay.get(day)?.rates,
    between: (first: string, last: string) =>
      [...byDay.keys()].filter((day) => day >= first && day <= last),
    newest: (instant: number) => rows.findLast((row) => row.availableAt <= instant)?.day ?? '',
    availableAt: (day: string) => byDay.get(day)?.availableAt ?? Infinity,
    /** Returns the rows of a relay's response to `start..end` at `instant`, as JSON members ready to be joined. */
    rows(start: string, end: string, instant: number) {
      const last = rows.findLastIndex((row) => row.day <= end && row.availableAt <= instant)
      // The relay moves a start without rates back to the last day with rates.
      const snapped = rows.findLastIndex((row) => row.day <= start)
      const first = Math.max(0, Math.min(snapped, last))
      return rows.slice(first, last + 1).map((row) => row.json)
    },
  }
}

function createRows(options: Scene) {
  const { random, startsAt, duration, historyDays, holeShare } = options
  const last = toDay(startsAt + duration + 10 * DAY)
  const days = targetDays(toDay(startsAt - historyDays * DAY), last)
  let quotes: [string, number][] = Object.entries(FIRST_REFERENCE)
  let availableAt = 0
  const later = ([code, rate]: [string, number]): [string, number] => [
    code,
    drift(rate, FIRST_REFERENCE[code] ?? NaN, random, 5),
  ]
  return days.map((day) => {
    quotes = quotes.map(later)
    const holed = random.chance(holeShare) ? random.pick(REFERENCE_CODES) : undefined
    const published = quotes.filter(([code]) => code !== holed)
    // A late row delays the rows after it.
    availableAt = Math.max(availableAt + MINUTE, arrival(day, options))
    const json = `"${day}":${JSON.stringify(Object.fromEntries(published))}`
    return { day, rates: new Map(published), availableAt, json }
  })
}

function arrival(day: string, { random, startsAt, lateShare, calmFrom }: Scene): number {
  // The time of arrival does not matter for days long past.
  if (Date.parse(day) < startsAt - 2 * DAY) return Date.parse(day) + 18 * HOUR
  const due = hourInFrankfurt(day, 16)
  const isLate = due < startsAt + calmFrom && random.chance(lateShare)
  return due + (isLate ? random.magnitude(MINUTE, 20 * HOUR) : random.between(-MINUTE, 20 * SECOND))
}

function drift(rate: number, usual: number, random: Random, digits: number): number {
  const moved = rate * (1 + random.between(-0.008, 0.008)) * (usual / rate) ** 0.02
  return Number(moved.toPrecision(digits))
}

export function targetDays(first: string, last: string): string[] {
  return daysOf(first, last).filter(isTargetDay)
}

export function hourInFrankfurt(day: string, hour: number): number {
  const noon = Date.parse(`${day}T12:00:00Z`)
  const ahead = Number(FRANKFURT.format(noon)) - 12
  return noon + (hour - 12 - ahead) * HOUR
}

const FRANKFURT = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Berlin',
  hour: '2-digit',
  hourCycle: 'h23',
})

type Pair = Record<'from' | 'to', string>

/** Knows which reference rates may be served. Times in ms since the Unix epoch. */
export type Oracle = ReturnType<typeof createOracle>

export function createOracle(referenceRates: ReferenceRates) {
  let historyLatest = -Infinity
  return {
    referenceRates,
    /** Returns whether reference rates of both currencies are published for `day`, and none of them is `missing`. */
    isQuoted(day: string, { from, to }: Pair, missing?: ReadonlySet<string>) {
      const rates = referenceRates.on(day)
      const isThere = (code: string): boolean =>
        code === 'EUR' || (rates?.has(code) === true && missing?.has(`${day} ${code}`) !== true)
      return rates !== undefined && missing?.has(day) !== true && [from, to].every(isThere)
    },
    recentRates(code: string, clock: number): number[] {
      const days = referenceRates.between(toDay(clock - 12 * DAY), toDay(clock + DAY))
      return days.flatMap((day) => {
        const rates = referenceRates.on(day)
        const [rate, dollar] = [code === 'EUR' ? 1 : rates?.get(code), rates?.get('USD')]
        return rate === undefined || dollar === undefined ? [] : [rate / dollar]
      })
    },
    takeHistory(clock: number) {
      historyLatest = Math.max(historyLatest, clock + 10 * MINUTE, nextPublication(clock))
    },
    historyDue: (newestDay: string) => ({
      earliest: referenceRates.availableAt(newestDay) - 25 * HOUR,
      latest: historyLatest,
    }),
  }
}

function nextPublication(instant: number): number {
  const days = targetDays(toDay(instant), toDay(instant + 7 * DAY))
  return days.map((day) => hourInFrankfurt(day, 16)).find((due) => due > instant) ?? Infinity
}
