import { MINUTE, SECOND } from '../virtual-runtime.ts'
import {
  REJECTED,
  SECRET,
  accepted,
  after,
  answer,
  changedJson,
  entriesOf,
  failing,
  rewritten,
} from './fault.ts'
import type { Fault, HistoryBody, Inject, Make } from './fault.ts'

type Rates = HistoryBody['rates']
type Day = Rates[string]
type Row = [date: string, day: Day]

const harmless: Make<Inject> = (name, inject, more) =>
  accepted(name, inject, { dataSets: ['history'], ...more })

/** The relay returns a changed body, which is served as it is. */
const changed: Make<(body: HistoryBody) => HistoryBody> = (name, change, more) => {
  const serves = { history: (body: HistoryBody) => change(body).rates }
  return harmless(name, changedJson(change), { serves, ...more })
}

/** The relay returns a changed body, which is unusable. */
const spoilt: Make<(body: HistoryBody) => object> = (name, change, more) =>
  failing(name, changedJson(change), { dataSets: ['history'], ...more })

export const history = entriesOf('history', {
  'history-empty': [
    spoilt('no days', (body) => ({ ...body, rates: {} })),
    spoilt('days without rates', (body) => mapDays(body, () => ({})), { reported: REJECTED }),
    spoilt('days with rates of 0', (body) => mapDays(body, withZeros), { reported: REJECTED }),
  ],
  'history-one-point': changed('the newest', (body) => reordered(body, (days) => days.slice(-1)), {
    isSimulated: false,
  }),
  'history-unordered': [
    changed('descending', (body) => reordered(body, (days) => days.toReversed())),
    changed('odd ones first', (body) =>
      reordered(body, (days) =>
        [1, 0].flatMap((rest) => days.filter((_, index) => index % 2 === rest)),
      ),
    ),
  ],
  'history-duplicate-dates': [
    twice('the right one last', true),
    { ...twice('the right one first', false), isSimulated: false },
    {
      name: 'a provider that lists it twice',
      dataSets: ['history'],
      verdict: 'accepted',
      reported: ['rates_dropped'],
      transform({ base, days }) {
        const again = days.slice(-1).map((day) => ({ ...day, rates: { ...day.rates, USD: 1.25 } }))
        return { base, days: [...days, ...again] }
      },
      serves: { history: (body) => wrongOnNewest(body).rates },
    },
  ],
  'history-missing-symbol': changed(
    'USD on every other day',
    (body) =>
      mapDays(body, ({ USD = NaN, ...rates }, { date }) =>
        Number(date.slice(-2)) % 2 === 0 ? { ...rates, USD } : rates,
      ),
    { isSimulated: false },
  ),
  'history-bad-date-format': {
    ...changed('five kinds', (body) => body),
    inject: rewritten((good) => {
      const keys = ['2026-1-5', '20260105', '2026-02-30', '__proto__', SECRET]
      const rows = keys.map((key) => `"${key}":{"USD":9,"INR":9}`)
      return good.replace('"rates":{', `"rates":{${rows.join()},`)
    }),
    reported: ['rates_dropped'],
  },
  'history-spike': changed(
    'USD on the day before the newest',
    onDay(1, ({ USD = NaN, ...rates }) => ({ ...rates, USD: USD * 100 })),
    {
      serves: { history: (body) => onDay(1, without('USD'))(body).rates },
      reported: ['rates_quarantined'],
    },
  ),
  'history-both-non-eur': changed('INR on the day before the newest', onDay(1, without('INR')), {
    isSimulated: false,
  }),
  'history-amount-field': [
    spoilt('of a hundred euros', (body) => ({
      ...mapDays(body, (day) => mapDay(day, (rate) => rate * 100)),
      amount: 100,
    })),
    spoilt('of dollars', (body) => ({ ...body, base: 'USD' })),
  ],
  'history-16cet-race': harmless('a relay that takes 2 s', after(2 * SECOND), {
    takes: 2 * SECOND,
    pause: MINUTE,
  }),
  'history-v2-shape': spoilt('a list of rows', (body) =>
    Object.entries(body.rates).flatMap(([date, rates]) =>
      Object.entries(rates).map(([quote, rate]) => ({ date, base: 'EUR', quote, rate })),
    ),
  ),
  'history-shared-etag': harmless('always the same ETag', ({ good, init }) => {
    const isConditional = new Headers(init.headers).has('if-none-match')
    return isConditional ? new Response(null, { status: 304 }) : answer(good, 200, { etag: '"1"' })
  }),
  'history-open-ended': failing('13 s', after(13 * SECOND), {
    dataSets: ['history'],
    takes: 'limit',
  }),
  'history-rebased-rounding': harmless('IDR in EUR', ({ good, url }) =>
    answer(url.search === '' ? good : coarse(good)),
  ),
  'history-bad-day': [
    wrongNewest('inverted', (day) => mapDay(day, (rate) => 1 / rate)),
    wrongNewest('× 1,000', (day) => mapDay(day, (rate) => rate * 1_000)),
    wrongNewest('one currency only', ({ USD = NaN }) => ({ USD })),
    wrongNewest('USD × 9', (day) => ({ ...day, USD: 9 * Number(day['USD']) }), without('USD')),
  ],
})

/** Returns `body` with every day changed; `fromEnd` is 0 for the newest. */
function mapDays(
  body: HistoryBody,
  change: (day: Day, place: { date: string; fromEnd: number }) => Day,
): HistoryBody {
  return reordered(body, (days) =>
    days.map(([date, day], index) => {
      return [date, change(day, { date, fromEnd: days.length - 1 - index })]
    }),
  )
}

function withZeros(day: Day): Day {
  return { ...day, USD: 0, GBP: 0 }
}

function reordered(body: HistoryBody, order: (days: Row[]) => Row[]): HistoryBody {
  return { ...body, rates: Object.fromEntries(order(Object.entries(body.rates))) }
}

/** Returns a function that changes one day of a body, counted from the newest, which is 0. */
function onDay(wanted: number, change: (day: Day) => Day): (body: HistoryBody) => HistoryBody {
  return (body) => mapDays(body, (day, { fromEnd }) => (fromEnd === wanted ? change(day) : day))
}

function without(code: string): (day: Day) => Day {
  return (day) => Object.fromEntries(Object.entries(day).filter(([each]) => each !== code))
}

/** Returns a form with a changed newest day, of which only the result of `served` is served (default nothing). */
function wrongNewest(
  name: string,
  change: (day: Day) => Day,
  served: (day: Day) => Day = () => ({}),
): Fault {
  return changed(name, onDay(0, change), {
    serves: {
      history(body) {
        const days = Object.entries(onDay(0, served)(body).rates)
        return Object.fromEntries(days.filter(([, day]) => Object.keys(day).length > 0))
      },
    },
    reported: ['rates_quarantined'],
  })
}

function mapDay(day: Day, change: (rate: number) => number): Day {
  return Object.fromEntries(Object.entries(day).map(([code, rate]) => [code, change(rate)]))
}

/** Returns a form with the newest day twice: unchanged, and with a different rate of USD. */
function twice(name: string, isRightLast: boolean): Fault {
  const inject: Inject = ({ good }) => {
    const body: HistoryBody = JSON.parse(good)
    const rows = Object.entries(body.rates)
    const right = toText(rows.slice(-1))
    const wrong = toText(Object.entries(wrongOnNewest(body).rates).slice(-1))
    const newest = isRightLast ? [wrong, right] : [right, wrong]
    const all = [toText(rows.slice(0, -1)), ...newest].filter((text) => text !== '')
    return answer(`{"amount":1.0,"base":"EUR","rates":{${all.join()}}}`)
  }
  const serves = {
    history: (body: HistoryBody) => (isRightLast ? body : wrongOnNewest(body)).rates,
  }
  return harmless(name, inject, { serves })
}

function wrongOnNewest(body: HistoryBody): HistoryBody {
  return onDay(0, (day) => ({ ...day, USD: 1.25 }))(body)
}

function toText(rows: Row[]): string {
  return JSON.stringify(Object.fromEntries(rows)).slice(1, -1)
}

/** Returns the text with two digits of every number, like a table of another base. */
function coarse(good: string): string {
  return good.replaceAll(/\d+\.\d+/g, (digits) => String(Number(Number(digits).toPrecision(2))))
}
