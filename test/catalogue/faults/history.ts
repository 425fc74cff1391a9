import type { FaultCase } from './case.ts'
import { REJECTED, after, changedHistory, failing, rewritten, spoiltHistory } from './forms.ts'
import {
  askBetween,
  askForThoseWhoLeft,
  coarse,
  expectFineSteps,
  expectJumpsAreTold,
  listedTwice,
  mapDays,
  reordered,
  twice,
  withSpike,
} from './history-forms.ts'
import { NONCE, answer } from './upstream.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 86_400 * SECOND

/** 15:59 in Frankfurt on a Thursday in winter. */
const BEFORE_PUBLICATION = Date.parse('2026-11-19T14:59:00Z')

/** Faults of what the relay of the reference rates says. */
export const history: readonly FaultCase[] = [
  {
    id: 'history-empty',
    layer: 'history',
    fault: 'there are no days',
    contract:
      'While data are held, no new days are what a weekend looks like; they are looked for again.',
    variants: [
      spoiltHistory('no days', (body) => ({ ...body, rates: {} }), {
        inState: { warm: 'accepted' },
        serves: { history: () => ({}) },
      }),
      spoiltHistory(
        'days without rates',
        (body) => ({ ...body, rates: mapDays(body.rates, () => ({})) }),
        { serves: { history: () => ({}) }, told: REJECTED },
      ),
    ],
  },
  {
    id: 'history-one-point',
    layer: 'history',
    fault: 'there is a single day',
    variants: [
      changedHistory('the newest', (body) => {
        const newest = Object.entries(body.rates).slice(-1)
        return { ...body, rates: Object.fromEntries(newest) }
      }),
    ],
  },
  {
    id: 'history-unordered',
    layer: 'history',
    fault: 'the days come in any order',
    variants: [
      changedHistory('descending', (body) => reordered(body, (days) => days.toReversed())),
      changedHistory('odd ones first', (body) =>
        reordered(body, (days) => [
          ...days.filter((_, index) => index % 2 === 1),
          ...days.filter((_, index) => index % 2 === 0),
        ]),
      ),
    ],
  },
  {
    id: 'history-duplicate-dates',
    layer: 'history',
    fault: 'a day comes twice, with different rates',
    variants: [twice('the right one last', true), twice('the right one first', false), listedTwice],
  },
  {
    id: 'history-missing-symbol',
    layer: 'history',
    fault: 'a currency is missing on some days',
    variants: [
      changedHistory('USD on every other day', (body) => ({
        ...body,
        rates: mapDays(body.rates, ({ USD = NaN, ...rates }, { date }) =>
          Number(date.slice(-2)) % 2 === 0 ? { ...rates, USD } : rates,
        ),
      })),
    ],
  },
  {
    id: 'history-bad-date-format',
    layer: 'history',
    fault: 'some days are no days',
    variants: [
      {
        ...changedHistory('five kinds', (body) => body),
        inject: rewritten((good) => {
          const keys = ['2026-1-5', '20260105', '2026-02-30', '__proto__', NONCE]
          const rows = keys.map((key) => `"${key}":{"USD":9,"INR":9}`)
          return good.replace('"rates":{', `"rates":{${rows.join()},`)
        }),
        told: ['rates_dropped'],
      },
    ],
  },
  {
    id: 'history-spike',
    layer: 'history',
    fault: 'one rate is a hundred times its neighbours',
    variants: [
      changedHistory('USD on the day before the newest', withSpike, {
        told: ['rates_jumped'],
        meanwhile: expectJumpsAreTold,
      }),
    ],
  },
  {
    id: 'history-left-feed',
    layer: 'history',
    fault: 'a currency is asked for that has left',
    variants: [
      {
        name: 'BGN, HRK, RUB',
        dataSets: ['history'],
        verdict: 'accepted',
        act: askForThoseWhoLeft,
      },
    ],
  },
  {
    id: 'history-both-non-eur',
    layer: 'history',
    fault: 'one of two currencies is missing on a day',
    variants: [
      changedHistory('INR on the day before the newest', (body) => ({
        ...body,
        rates: mapDays(body.rates, ({ INR = NaN, ...rates }, { fromEnd }) =>
          fromEnd === 1 ? rates : { ...rates, INR },
        ),
      })),
    ],
  },
  {
    id: 'history-amount-field',
    layer: 'history',
    fault: 'the rates are those of a hundred euros',
    variants: [
      spoiltHistory('and say so', (body) => ({
        ...body,
        amount: 100,
        rates: mapDays(body.rates, (rates) =>
          Object.fromEntries(Object.entries(rates).map(([code, rate]) => [code, rate * 100])),
        ),
      })),
    ],
  },
  {
    id: 'history-16cet-race',
    layer: 'history',
    fault: 'it is asked before and after a publication',
    variants: [
      {
        name: 'a relay that takes 2 s',
        dataSets: ['history'],
        verdict: 'accepted',
        world: { start: BEFORE_PUBLICATION },
        takes: 2 * SECOND,
        // Until 16:00.
        pause: MINUTE,
        inject: after(2 * SECOND),
        arrive: ({ machine }, state) =>
          machine.advance(
            { cold: 0, warm: 40 * MINUTE, expired: 19 * DAY, fresh: 30 * SECOND }[state],
          ),
        act: askBetween,
      },
    ],
  },
  {
    id: 'history-v2-shape',
    layer: 'history',
    fault: 'the relay answers in the form of its next version',
    variants: [
      spoiltHistory('a list of rows', (body) =>
        Object.entries(body.rates).flatMap(([date, rates]) =>
          Object.entries(rates).map(([quote, rate]) => ({ date, base: 'EUR', quote, rate })),
        ),
      ),
    ],
  },
  {
    id: 'history-shared-etag',
    layer: 'history',
    fault: 'one tag for different data, and 304 to whoever sends it',
    contract: 'No validators are sent, so that no 304 can come.',
    instead: { cold: 'The tag comes with the first answer, as it does with every later one.' },
    variants: [
      {
        name: 'always the same tag',
        dataSets: ['history'],
        verdict: 'accepted',
        inject({ good, init }) {
          const asksBack = new Headers(init.headers).has('if-none-match')
          return asksBack ? new Response(null, { status: 304 }) : answer(good, 200, { etag: '"1"' })
        },
      },
    ],
  },
  {
    id: 'history-open-ended',
    layer: 'history',
    fault: 'the relay takes 13 s',
    variants: [failing('13 s', after(13 * SECOND), { dataSets: ['history'], takes: 'limit' })],
  },
  {
    id: 'history-rebased-rounding',
    layer: 'history',
    fault: 'the relay rounds twice when it is asked for another base',
    variants: [
      {
        name: 'IDR in EUR',
        dataSets: ['history'],
        verdict: 'accepted',
        inject: ({ good, url }) => answer(url.search === '' ? good : coarse(good)),
        meanwhile: expectFineSteps,
      },
    ],
  },
]
