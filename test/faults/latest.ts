import { codes } from '../fixtures/codes.ts'
import { product } from '../oracle.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../virtual-runtime.ts'
import {
  BOTH,
  LEGAL,
  REJECTED,
  SECRET,
  accepted,
  answer,
  byLaw,
  changedJson,
  changedLatest,
  entriesOf,
  failing,
  refused,
  responding,
  rewritten,
  toLatestTruth,
  withOlder,
} from './fault.ts'
import type { Fault, Inject, LatestBody, LatestTruth, Make } from './fault.ts'
import { pour } from './transport.ts'

const DAY_SECONDS = DAY / SECOND
const HOUR_SECONDS = HOUR / SECOND
const MEGABYTE = 1024 * 1024

/** A code that is not in any current list. */
const NEWCOMER = 'QQN'

/** Levs for one dollar; 65.82 for one euro, as a real feed published. */
const DRIFTED_LEV = 57

/** Codes in requests of the tests; they stay in shortened tables. */
const REQUESTED = ['USD', 'EUR', 'GBP', 'JPY']

/** The open feed returns a changed body, which is unusable. */
const spoiltLatest: Make<(body: LatestBody) => object> = (name, change, more) =>
  failing(name, changedJson(change), more)

/** The same, and an event reports it as rejected. */
const rejectedLatest: Make<(body: LatestBody) => object> = (name, change, more) =>
  spoiltLatest(name, change, { reported: REJECTED, ...more })

const nextUpdate: Make<(good: LatestBody) => number> = (name, toTime) =>
  changedLatest(name, (good) => ({ ...good, time_next_update_unix: toTime(good) }))

const readable: Make<(good: string) => string> = (name, change, more) =>
  accepted(name, rewritten(change), more)

function replaced(name: string, part: RegExp, replacement: string): Fault {
  const inject = rewritten((good) => good.replace(part, replacement))
  return refused(name, inject)
}

export const body = entriesOf('body', {
  'body-truncated-json': [
    refused('half of it', ({ good }) => answer(good.slice(0, good.length / 2))),
    refused('all but the last brace', ({ good }) => answer(good.slice(0, -1))),
  ],
  'body-two-json': [
    refused('twice the same', ({ good }) => answer(good + good)),
    refused('two empty ones', responding('{}{}')),
  ],
  'body-bom': readable('U+FEFF', (good) => `\uFEFF${good}`),
  'body-latin1': accepted('a byte E9 in a string', ({ good }) => {
    const bytes = new TextEncoder().encode(good.replace('{', '{"note":"caf~",'))
    bytes[bytes.indexOf('~'.charCodeAt(0))] = 0xe9
    return answer(bytes, 200, { 'content-type': 'application/json; charset=iso-8859-1' })
  }),
  'body-nan-literal': ['NaN', 'Infinity', '-Infinity'].map((literal) =>
    replaced(literal, /("GBP"):[\d.]+/, `$1:${literal}`),
  ),
  'body-proto-key': [
    withKeys('with an object', '"__proto__":{"EUR":1,"polluted":1}'),
    withKeys('with a number', '"__proto__":1', ['latest']),
  ],
  'body-constructor-key': [
    withKeys('toString, constructor', '"toString":1,"constructor":1,"valueOf":1', ['latest']),
    withKeys('of whole days', '"toString":{"USD":1},"constructor":{"USD":1}', ['history']),
  ],
  'body-rates-array': ['[1,2]', `"${SECRET}"`, '1', 'null', 'true'].map((rates) =>
    replaced(rates, /"rates":.*$/, `"rates":${rates}}`),
  ),
  'body-100mb': [
    refused('white space', () => pour(' ', 100 * MEGABYTE)),
    refused('keys', () => pour(`"${SECRET}":1,`, 100 * MEGABYTE)),
  ],
  'body-gzip-bomb': refused('as fetch decompresses it', () =>
    pour('0', 300 * MEGABYTE, { 'content-encoding': 'gzip', 'content-length': '290000' }),
  ),
  'body-encoding-chain': [
    refused('still compressed', () =>
      answer(new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x7b, 0x7d]), 200, {
        'content-encoding': Array(8).fill('gzip').join(', '),
      }),
    ),
    refused('rejected by fetch', () =>
      Promise.reject(new TypeError(`too many content encodings ${SECRET}`)),
    ),
  ],
  'body-keys-100k': [17_500, 1_001].map((count) =>
    rejectedLatest(`${count} codes`, (good) => {
      const more = codes(17_500).filter((code) => !(code in good.rates))
      const added = more.slice(0, count - Object.keys(good.rates).length)
      return withRates(good, Object.fromEntries(added.map((code) => [code, 1.5])))
    }),
  ),
})

const REFUSED_WARM = { inState: { warm: 'refused' } } as const

const REFUSALS =
  'unsupported-code malformed-request invalid-key inactive-account plan-upgrade-required'

export const schema = entriesOf('schema', {
  'result-error': [
    refusing('quota-reached', 20 * MINUTE),
    ...REFUSALS.split(' ').map((type) => refusing(type, 15 * MINUTE)),
    refusing(SECRET, SECOND),
  ],
  'wrong-base-code': [
    spoiltLatest('a table of EUR', (good) => ({ ...againstEuro(good), base_code: 'EUR' })),
    spoiltLatest('the right table with the wrong name', (good) => ({ ...good, base_code: 'EUR' })),
    rejectedLatest('another table with the right name', againstEuro),
    rejectedLatest('1.07 for the base', (good) => withRates(good, { USD: 1.07 })),
    rejectedLatest('every rate inverted', (good) => mapRates(good, (rate) => 1 / rate), {
      needsPrevious: true,
    }),
  ],
  'missing-base-key': {
    ...changedLatest('no USD', (good) => without(good, ['USD'])),
    serves: { latest: toLatestTruth },
  },
  'missing-rates': [
    spoiltLatest('all but the rates', (good) => ({ ...good, rates: undefined })),
    failing('only success', responding('{"result":"success"}')),
    failing('null', responding('null')),
  ],
  'empty-rates': [
    spoiltLatest('no rates', (good) => ({ ...good, rates: {} })),
    spoiltLatest('only the base', (good) => ({ ...good, rates: { USD: 1 } })),
    failing('no fields', responding('{}')),
    rejectedLatest('19 codes', (good) => ofLength(good, 19)),
  ],
  'half-table': [
    changedLatest('a quarter of the codes', (good) => ofShare(good, 0.25), REFUSED_WARM),
    changedLatest('79 % of the codes', (good) => ofShare(good, 0.79), REFUSED_WARM),
    changedLatest('82 % of the codes', (good) => ofShare(good, 0.82)),
  ],
  'currency-left-feed': [
    changedLatest('BGN is gone', (good) => without(good, ['BGN'])),
    changedLatest('CZK is gone', (good) => without(good, ['CZK'])),
  ],
  'currency-joins-feed': changedLatest(NEWCOMER, (good) => withRates(good, { [NEWCOMER]: 12.5 })),
  'rate-nan-string': badRates('"0.86"'),
  'rate-null': ['null', 'true', '{}', '[]', '[0.86]'].flatMap(badRates),
})

export const values = entriesOf('values', {
  'rate-zero': ['0', '-0', '0.000000'].flatMap(badRates),
  'rate-negative': badRates('-0.86'),
  'rate-tiny': ['5e-324', '9.9e-10'].flatMap(badRates),
  'rate-huge': ['1e300', '1e999', '1.1e9'].flatMap(badRates),
  'one-rate-1000x': changedLatest('THB', thousandfoldBaht, {
    serves: { latest: quarantined('THB') },
    // The right rate then moves as far from the wrong one, but the reference rates confirm it.
    servesAfterwards: { latest: toLatestTruth },
  }),
  'stale-upstream-same-data': {
    name: 'the table of the first day',
    verdict: 'accepted',
    inject: ({ first }) => answer(first),
  },
  'retired-currency-garbage': changedLatest('BGN', (good) => withLev(good, DRIFTED_LEV), {
    serves: {
      latest: (good) => toLatestTruth(withLev(good, product(good.rates['EUR'] ?? NaN, 1.95583))),
    },
    reported: ['rates_deviating'],
    isSimulated: false,
  }),
  'bad-major': [
    ...['null', '-0.86', '1e999'].map((rate) => ({
      ...wrongEuro(rate, (good) => without(good, ['EUR'])),
      inject: rewritten((good) => good.replace(/"EUR":[\d.]+/, `"EUR":${rate}`)),
      reported: ['rates_dropped' as const],
    })),
    wrongEuro('missing', (good) => without(good, ['EUR'])),
    wrongEuro('× 9.9', (good) => withEuro(good, (rate) => rate * 9.9)),
    wrongEuro('× 1.3', (good) => withEuro(good, (rate) => rate * 1.3)),
    wrongEuro('inverted', (good) => withEuro(good, (rate) => 1 / rate)),
  ],
  'many-moved': [
    rejectedLatest('half of the codes × 9', (good) => oneIn(2, good, 9)),
    rejectedLatest('a third of the codes × 1.5', (good) => oneIn(3, good, 1.5), {
      needsPrevious: true,
    }),
  ],
})

export const time = entriesOf('time', {
  'missing-next-update': [undefined, null, 0].map((value): Fault => {
    const inject = changedJson((good) => ({ ...good, time_next_update_unix: value }))
    const latest = (good: LatestBody): LatestTruth =>
      toLatestTruth({ ...good, time_next_update_unix: 0 })
    return { name: String(value), verdict: 'accepted', inject, serves: { latest } }
  }),
  'missing-last-update': [undefined, null, 0, 'today'].map((value) =>
    spoiltLatest(String(value), (good) => ({ ...good, time_last_update_unix: value })),
  ),
  'next-before-last': [
    nextUpdate('by a day', ({ time_last_update_unix: last }) => last - DAY_SECONDS),
    nextUpdate('in 1970', () => 1),
    nextUpdate('in a month', ({ time_last_update_unix: last }) => last + 30 * DAY_SECONDS),
  ],
  'seconds-vs-millis': [
    rejectedLatest('in ms', (good) => withTimes(good, (seconds) => seconds * 1_000)),
    rejectedLatest('a month ahead', (good) =>
      withTimes(good, (seconds) => seconds + 30 * DAY_SECONDS),
    ),
  ],
  'upstream-http-cache': {
    name: 'the table of the day before the first',
    verdict: 'accepted',
    inState: { warm: 'refused', expired: 'refused' },
    inject: ({ older }) => answer(older),
  },
  'dated-ahead': [
    changedLatest('by 47 hours', (good) => withTimes(good, (time) => time + 47 * HOUR_SECONDS)),
    changedLatest('by a day', (good) => withTimes(good, (time) => time + DAY_SECONDS)),
  ],
  'next-update-unit': nextUpdate('in ms', (good) => good.time_next_update_unix * SECOND),
})

/** Returns a form with additional keys before the good ones, which are dropped. */
function withKeys(name: string, keys: string, dataSets: Fault['dataSets'] = BOTH): Fault {
  return readable(name, (good) => good.replace('"rates":{', `"rates":{${keys},`), { dataSets })
}

function refusing(type: string, pause: number): Fault {
  const text = JSON.stringify({ result: 'error', 'error-type': type, documentation: SECRET })
  return failing(type, responding(text), { pause })
}

function badRates(literal: string): Fault[] {
  const spoil = (pick: (good: LatestBody) => string[]): Inject =>
    rewritten((good) =>
      pick(JSON.parse(good)).reduce(
        (text, code) => text.replace(new RegExp(`"${code}":[\\d.e-]+`), `"${code}":${literal}`),
        good,
      ),
    )
  const rejected = (name: string, pick: (good: LatestBody) => string[]): Fault =>
    failing(`${literal} for ${name}`, spoil(pick), { reported: REJECTED })
  return [
    {
      name: `${literal} for as many codes as may be dropped`,
      verdict: 'accepted',
      inject: spoil((good) => tolerated(good)),
      serves: {
        latest(good, before) {
          const truth = toLatestTruth(without(good, tolerated(good)))
          return before ? withOlder(truth, before, tolerated(good)) : truth
        },
      },
      reported: ['rates_dropped'],
    },
    rejected('one code more', (good) => tolerated(good, 1)),
    rejected('the base', () => ['USD']),
  ]
}

/** Returns as many codes as may be dropped from a table, and `more`; a law replaces bad rates of withdrawn currencies. */
function tolerated({ rates }: LatestBody, more = 0): string[] {
  const all = Object.keys(rates)
  const count = Math.floor(all.length * 0.05) + more
  return all.filter((code) => !REQUESTED.includes(code) && !(code in LEGAL)).slice(0, count)
}

function withLev(good: LatestBody, rate: number): LatestBody {
  return withRates(good, { BGN: rate })
}

function withRates(good: LatestBody, rates: Record<string, number>): LatestBody {
  return { ...good, rates: { ...good.rates, ...rates } }
}

function mapRates(good: LatestBody, change: (rate: number) => number): LatestBody {
  const changed = Object.entries(good.rates).map(([code, rate]) => [code, change(rate)])
  return { ...good, rates: Object.fromEntries(changed) }
}

function withTimes(good: LatestBody, change: (seconds: number) => number): LatestBody {
  return {
    ...good,
    time_last_update_unix: change(good.time_last_update_unix),
    time_next_update_unix: change(good.time_next_update_unix),
  }
}

function againstEuro(good: LatestBody): LatestBody {
  return mapRates(good, (rate) => rate / (good.rates['EUR'] ?? NaN))
}

function without(good: LatestBody, left: readonly string[]): LatestBody {
  const rates = Object.entries(good.rates).filter(([code]) => !left.includes(code))
  return { ...good, rates: Object.fromEntries(rates) }
}

/** Returns `good` with `count` codes, the requested ones among them. */
function ofLength(good: LatestBody, count: number): LatestBody {
  const others = Object.keys(good.rates).filter((code) => !REQUESTED.includes(code))
  return without(good, others.slice(count - REQUESTED.length))
}

function ofShare(good: LatestBody, share: number): LatestBody {
  return ofLength(good, Math.floor(share * Object.keys(good.rates).length))
}

function thousandfoldBaht(good: LatestBody): LatestBody {
  return withRates(good, { THB: (good.rates['THB'] ?? NaN) * 1_000 })
}

/** Returns the table with the earlier rate of `code`, or without one. */
function quarantined(code: string) {
  return (good: LatestBody, before: LatestTruth | undefined): LatestTruth => {
    const others = toLatestTruth(without(good, [code]))
    return before ? byLaw(withOlder(others, before, [code])) : others
  }
}

/** Returns a form with a wrong euro: its last rate is served, if any, because reference rates or pegs contradict the new one. */
function wrongEuro(name: string, change: (good: LatestBody) => LatestBody): Fault {
  return changedLatest(name, change, {
    serves: { latest: quarantined('EUR') },
    // The reference rates confirm the right rate.
    servesAfterwards: { latest: toLatestTruth },
  })
}

function withEuro(good: LatestBody, change: (rate: number) => number): LatestBody {
  return withRates(good, { EUR: change(good.rates['EUR'] ?? NaN) })
}

/** Returns `good` with every `count`-th rate multiplied by `factor`, except that of the base. */
function oneIn(count: number, good: LatestBody, factor: number): LatestBody {
  const codes = Object.keys(good.rates).filter((code) => code !== good.base_code)
  const moved = codes.filter((_, index) => index % count === 0)
  const rates = moved.map((code) => [code, (good.rates[code] ?? NaN) * factor])
  return withRates(good, Object.fromEntries(rates))
}
