import { codes } from '../fixtures/codes.ts'
import { product } from '../oracle.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../virtual-runtime.ts'
import {
  BOTH,
  REJECTED,
  SECRET,
  answer,
  changedJson,
  changedLatest,
  entriesOf,
  failing,
  failingBoth as unreadable,
  harmlessBoth,
  rejectedLatest,
  rewritten,
  says,
  spoiltLatest,
  toLatestTruth,
  withOlder,
} from './fault.ts'
import type { Fault, FaultCase, Inject, LatestBody, LatestTruth } from './fault.ts'
import { pour } from './transport.ts'

const DAY_SECONDS = DAY / SECOND
const HOUR_SECONDS = HOUR / SECOND
const MEGABYTE = 1024 * 1024

/** A code that no list of today has. */
export const NEWCOMER = 'QQN'

/** 65.82 for one euro, as a feed really had it, against the dollar. */
const DRIFTED_LEV = 57

/** Codes that questions are about: they stay in tables that are cut short. */
const ASKED = ['USD', 'EUR', 'GBP', 'JPY']

/** Why single bad rates are no 502. */
const DROPPED = {
  contract:
    'Up to 5 % of bad rates are dropped with an event; only more, or a bad base, is a failure.',
}

const inBody = entriesOf('body')
const inSchema = entriesOf('schema')
const inValues = entriesOf('values')
const inTimes = entriesOf('time')

/** Faults of the body as text, of either upstream. */
export const body: readonly FaultCase[] = [
  inBody('body-truncated-json', 'the JSON ends in the middle, in good order', [
    unreadable('half of it', ({ good }) => answer(good.slice(0, good.length / 2))),
    unreadable('all but the last brace', ({ good }) => answer(good.slice(0, -1))),
  ]),
  inBody('body-two-json', 'two documents, one behind the other', [
    unreadable('twice the same', ({ good }) => answer(good + good)),
    unreadable('two empty ones', says('{}{}')),
  ]),
  inBody('body-bom', 'a byte order mark before the JSON', [
    readable('U+FEFF', (good) => `\uFEFF${good}`),
  ]),
  inBody('body-latin1', 'another encoding than UTF-8', [
    {
      ...readable('a byte E9 in a text', (good) => good),
      inject({ good }) {
        const bytes = new TextEncoder().encode(good.replace('{', '{"note":"caf~",'))
        bytes[bytes.indexOf('~'.charCodeAt(0))] = 0xe9
        return answer(bytes, 200, { 'content-type': 'application/json; charset=iso-8859-1' })
      },
    },
  ]),
  inBody(
    'body-nan-literal',
    'NaN or Infinity where a number belongs',
    ['NaN', 'Infinity', '-Infinity'].map((literal) =>
      unreadable(
        literal,
        rewritten((good) => good.replace(/("GBP"):[\d.]+/, `$1:${literal}`)),
      ),
    ),
  ),
  inBody('body-proto-key', '__proto__ among the codes or dates', [
    withKeys('with an object', '"__proto__":{"EUR":1,"polluted":1}'),
    withKeys('with a number', '"__proto__":1', ['latest']),
  ]),
  inBody('body-constructor-key', 'names of every object among the codes or dates', [
    withKeys('toString, constructor', '"toString":1,"constructor":1,"valueOf":1', ['latest']),
    withKeys('of whole days', '"toString":{"USD":1},"constructor":{"USD":1}', ['history']),
  ]),
  inBody(
    'body-rates-array',
    'the rates are something else than an object',
    ['[1,2]', `"${SECRET}"`, '1', 'null', 'true'].map((rates) =>
      unreadable(
        rates,
        rewritten((good) => good.replace(/"rates":.*$/, `"rates":${rates}}`)),
      ),
    ),
  ),
  inBody('body-100mb', 'a body of 100 MB', [
    unreadable('white space', () => pour(' ', 100 * MEGABYTE)),
    unreadable('keys', () => pour(`"${SECRET}":1,`, 100 * MEGABYTE)),
  ]),
  inBody('body-gzip-bomb', 'a few bytes on the wire that become 300 MB', [
    unreadable('as fetch hands it over', () =>
      pour('0', 300 * MEGABYTE, { 'content-encoding': 'gzip', 'content-length': '290000' }),
    ),
  ]),
  inBody('body-encoding-chain', 'compressed eight times', [
    unreadable('handed over as it came', () =>
      answer(new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x7b, 0x7d]), 200, {
        'content-encoding': Array(8).fill('gzip').join(', '),
      }),
    ),
    unreadable('refused by fetch', () =>
      Promise.reject(new TypeError(`too many content encodings ${SECRET}`)),
    ),
  ]),
  inBody(
    'body-keys-100k',
    'far more codes than there are currencies',
    [17_500, 1_001].map((count) =>
      rejectedLatest(`${count} codes`, (good) => {
        const more = codes(17_500).filter((code) => !(code in good.rates))
        const added = more.slice(0, count - Object.keys(good.rates).length)
        return withRates(good, Object.fromEntries(added.map((code) => [code, 1.5])))
      }),
    ),
  ),
]

/** Faults of the form of an answer of the open feed. */
export const schema: readonly FaultCase[] = [
  inSchema('result-error', 'a status of 200, and a body that says it is an error', [
    refusing('quota-reached', 20 * MINUTE),
    ...[
      'unsupported-code',
      'malformed-request',
      'invalid-key',
      'inactive-account',
      'plan-upgrade-required',
    ].map((type) => refusing(type, 15 * MINUTE)),
    refusing(SECRET, SECOND),
  ]),
  inSchema('wrong-base-code', 'the table of another base than the one asked for', [
    spoiltLatest('a table of EUR', (good) => ({ ...againstEuro(good), base_code: 'EUR' })),
    spoiltLatest('the right table by the wrong name', (good) => ({ ...good, base_code: 'EUR' })),
    rejectedLatest('another table by the right name', againstEuro),
    rejectedLatest('1.07 for the base', (good) => withRates(good, { USD: 1.07 })),
    rejectedLatest('every rate turned over', (good) => mapRates(good, (rate) => 1 / rate), {
      needsPrevious: true,
    }),
  ]),
  inSchema('missing-base-key', 'the base is not in its own table', [
    {
      ...changedLatest('no USD', (good) => without(good, ['USD'])),
      serves: { latest: toLatestTruth },
    },
  ]),
  inSchema('missing-rates', 'there is no field of rates', [
    spoiltLatest('all but the rates', (good) => ({ ...good, rates: undefined })),
    failing('nothing but success', says('{"result":"success"}')),
    failing('null', says('null')),
  ]),
  inSchema('empty-rates', 'the table is empty', [
    spoiltLatest('no rates', (good) => ({ ...good, rates: {} })),
    spoiltLatest('only the base', (good) => ({ ...good, rates: { USD: 1 } })),
    failing('no fields', says('{}')),
    rejectedLatest('19 codes', (good) => ofLength(good, 19)),
  ]),
  inSchema('half-table', 'a part of the currencies is left', [
    changedLatest('a quarter of the codes', (good) => ofShare(good, 0.25), {
      inState: { warm: 'refused' },
    }),
    changedLatest('79 % of the codes', (good) => ofShare(good, 0.79), {
      inState: { warm: 'refused' },
    }),
    changedLatest('82 % of the codes', (good) => ofShare(good, 0.82)),
  ]),
  inSchema('currency-left-feed', 'a currency is not in the feed any more', [
    changedLatest('BGN is gone', (good) => without(good, ['BGN'])),
    changedLatest('CZK is gone', (good) => without(good, ['CZK'])),
  ]),
  inSchema('currency-joins-feed', 'a code appears that nobody knows', [
    changedLatest(NEWCOMER, (good) => withRates(good, { [NEWCOMER]: 12.5 })),
  ]),
  inSchema('rate-nan-string', 'a rate is written as text', badRates('"0.86"'), DROPPED),
  inSchema(
    'rate-null',
    'a rate is null, true, an object or a list',
    ['null', 'true', '{}', '[]', '[0.86]'].flatMap(badRates),
    DROPPED,
  ),
]

export const values: readonly FaultCase[] = [
  inValues('rate-zero', 'a rate is 0', ['0', '-0', '0.000000'].flatMap(badRates), DROPPED),
  inValues('rate-negative', 'a rate is negative', badRates('-0.86'), DROPPED),
  inValues(
    'rate-tiny',
    'a rate is too small to divide by',
    ['5e-324', '9.9e-10'].flatMap(badRates),
    DROPPED,
  ),
  inValues(
    'rate-huge',
    'a rate is larger than any',
    ['1e300', '1e999', '1.1e9'].flatMap(badRates),
    DROPPED,
  ),
  inValues(
    'one-rate-1000x',
    'one currency moves a thousandfold overnight',
    [
      changedLatest('THB', thousandfoldBaht, {
        serves: { latest: heldBack('THB', thousandfoldBaht) },
        // The right rate is then as far from what was believed, but the reference rates agree with it.
        servesAfterwards: { latest: toLatestTruth },
      }),
    ],
    { contract: 'With nothing usable to compare with, a table is believed as it is.' },
  ),
  inValues('stale-upstream-same-data', 'the same table is published for days', [
    {
      name: 'the table of the first day',
      verdict: 'accepted',
      inject: ({ first }) => answer(first),
    },
  ]),
  inValues(
    'retired-currency-garbage',
    'a withdrawn currency goes on drifting in the feed',
    [
      changedLatest('BGN', (good) => withRates(good, { BGN: DRIFTED_LEV }), {
        serves: {
          latest: (good) =>
            toLatestTruth(withRates(good, { BGN: product(good.rates['EUR'] ?? NaN, 1.95583) })),
        },
        reported: ['rates_corrected'],
        isSimulated: false,
      }),
    ],
    { contract: 'The rate fixed by law is served instead, with an event. All others stay right.' },
  ),
  inValues('bad-major', 'the rate of a major currency is wrong, or is not there', [
    ...['null', '-0.86', '1e999'].map((rate) => ({
      ...wrongEuro(rate, (good) => without(good, ['EUR'])),
      inject: rewritten((good) => good.replace(/"EUR":[\d.]+/, `"EUR":${rate}`)),
      reported: ['rates_dropped' as const],
    })),
    wrongEuro('missing', (good) => without(good, ['EUR'])),
    wrongEuro('× 9.9', (good) => withEuro(good, (rate) => rate * 9.9)),
    wrongEuro('× 1.3', (good) => withEuro(good, (rate) => rate * 1.3), true),
    wrongEuro('turned over', (good) => withEuro(good, (rate) => 1 / rate), true),
  ]),
  inValues('many-moved', 'many rates move at once', [
    rejectedLatest('half of the codes × 9', (good) => oneIn(2, good, 9)),
    rejectedLatest('a third of the codes × 1.5', (good) => oneIn(3, good, 1.5), {
      needsPrevious: true,
    }),
  ]),
]

/** Faults of the times in an answer. */
export const time: readonly FaultCase[] = [
  inTimes(
    'missing-next-update',
    'nothing is said of the next update',
    [undefined, null, 0].map((value): Fault => {
      const inject = changedJson((good) => ({ ...good, time_next_update_unix: value }))
      const latest = (good: LatestBody): LatestTruth =>
        toLatestTruth({ ...good, time_next_update_unix: 0 })
      return { name: String(value), verdict: 'accepted', inject, serves: { latest } }
    }),
  ),
  inTimes(
    'missing-last-update',
    'nothing is said of the last update',
    [undefined, null, 0, 'today'].map((value) =>
      spoiltLatest(String(value), (good) => ({ ...good, time_last_update_unix: value })),
    ),
  ),
  inTimes('next-before-last', 'the next update is before the last one, or far from it', [
    changedLatest('by a day', (good) => ({
      ...good,
      time_next_update_unix: good.time_last_update_unix - DAY_SECONDS,
    })),
    changedLatest('in 1970', (good) => ({ ...good, time_next_update_unix: 1 })),
    changedLatest('in a month', (good) => ({
      ...good,
      time_next_update_unix: good.time_last_update_unix + 30 * DAY_SECONDS,
    })),
  ]),
  inTimes('seconds-vs-millis', 'times are in ms where they were in seconds, or of another month', [
    rejectedLatest('in ms', (good) => withTimes(good, (seconds) => seconds * 1_000)),
    rejectedLatest('a month ahead', (good) =>
      withTimes(good, (seconds) => seconds + 30 * DAY_SECONDS),
    ),
  ]),
  inTimes(
    'upstream-http-cache',
    'a cache on the way answers with an older publication',
    [
      {
        name: 'the table of the day before the first',
        verdict: 'accepted',
        inState: { warm: 'refused', expired: 'refused' },
        inject: ({ older }) => answer(older),
      },
    ],
    {
      contract:
        'What was published before the data that were held last is not believed, however old those are.',
    },
  ),
  inTimes('dated-ahead', 'a publication is dated ahead, by less than two days', [
    changedLatest('by 47 hours', (good) => withTimes(good, (time) => time + 47 * HOUR_SECONDS)),
    changedLatest('by a day', (good) => withTimes(good, (time) => time + DAY_SECONDS)),
  ]),
  inTimes('next-update-unit', 'the next update is in ms, and so in tens of thousands of years', [
    changedLatest('in ms', (good) => ({
      ...good,
      time_next_update_unix: good.time_next_update_unix * SECOND,
    })),
  ]),
]

function readable(name: string, change: (good: string) => string): Fault {
  return harmlessBoth(name, rewritten(change))
}

/** A form in which some keys come before the good ones, and are left out. */
function withKeys(name: string, keys: string, dataSets: Fault['dataSets'] = BOTH): Fault {
  const form = readable(name, (good) => good.replace('"rates":{', `"rates":{${keys},`))
  return { ...form, dataSets }
}

function refusing(type: string, pause: number): Fault {
  const text = JSON.stringify({ result: 'error', 'error-type': type, documentation: SECRET })
  return failing(type, says(text), { pause })
}

/** The forms of a rate that is written as `literal`: in a few places, in too many, and as the base. */
function badRates(literal: string): Fault[] {
  const spoil = (pick: (good: LatestBody) => string[]): Inject =>
    rewritten((good) =>
      pick(JSON.parse(good)).reduce(
        (text, code) => text.replace(new RegExp(`"${code}":[\\d.e-]+`), `"${code}":${literal}`),
        good,
      ),
    )
  const more = { reported: REJECTED }
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
    failing(
      `${literal} for one code more`,
      spoil((good) => tolerated(good, 1)),
      more,
    ),
    failing(
      `${literal} for the base`,
      spoil(() => ['USD']),
      more,
    ),
  ]
}

/** The first codes after the base, as many as may be dropped of a table, and some more. */
function tolerated({ rates }: LatestBody, more = 0): string[] {
  const all = Object.keys(rates)
  const most = Math.floor(all.length * 0.05) + more
  return all.filter((code) => !ASKED.includes(code)).slice(0, most)
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

/** `good` with its first `count` codes, and those that are asked for among them. */
function ofLength(good: LatestBody, count: number): LatestBody {
  const others = Object.keys(good.rates).filter((code) => !ASKED.includes(code))
  return without(good, others.slice(count - ASKED.length))
}

function ofShare(good: LatestBody, share: number): LatestBody {
  return ofLength(good, Math.floor(share * Object.keys(good.rates).length))
}

export function thousandfoldBaht(good: LatestBody): LatestBody {
  return withRates(good, { THB: (good.rates['THB'] ?? NaN) * 1_000 })
}

/** The changed table, but for a rate that is held back because it is too far from the one before. */
function heldBack(code: string, change: (good: LatestBody) => LatestBody) {
  return (good: LatestBody, before: LatestTruth | undefined): LatestTruth => {
    const published = toLatestTruth(change(good))
    const known = before?.rates[code]
    const ratio = (published.rates[code] ?? NaN) / (known ?? NaN)
    if (!before || known === undefined || (ratio < 1.2 && ratio > 1 / 1.2)) return published
    return withOlder(published, before, [code])
  }
}

/**
 * A form in which only the euro is wrong: its last rate is served. Without one, a wrong rate is believed where it
 * `isPossible` for a euro.
 */
function wrongEuro(
  name: string,
  change: (good: LatestBody) => LatestBody,
  isPossible = false,
): Fault {
  return changedLatest(name, change, {
    serves: {
      latest(good, before) {
        const others = toLatestTruth(without(good, ['EUR']))
        if (before) return byLaw(withOlder(others, before, ['EUR']))
        return isPossible ? byLaw(toLatestTruth(change(good))) : others
      },
    },
    // The reference rates agree with what is right.
    servesAfterwards: { latest: toLatestTruth },
  })
}

/** Units for one euro, by law. */
const FIXED = { BGN: 1.95583, HRK: 7.5345 }

/** `truth` with the rates that law has fixed to that of the euro, where they are others. */
function byLaw(truth: LatestTruth): LatestTruth {
  const rates = { ...truth.rates }
  for (const [code, ratio] of Object.entries(FIXED)) {
    const fixed = Number(((rates['EUR'] ?? NaN) * ratio).toPrecision(15))
    const published = rates[code] ?? fixed
    if (Math.abs(published - fixed) > 0.005 * fixed) rates[code] = fixed
  }
  return { ...truth, rates }
}

function withEuro(good: LatestBody, change: (rate: number) => number): LatestBody {
  return withRates(good, { EUR: change(good.rates['EUR'] ?? NaN) })
}

/** `good` with every rate whose place is divisible by `count` multiplied by `factor`, except that of the base. */
function oneIn(count: number, good: LatestBody, factor: number): LatestBody {
  const codes = Object.keys(good.rates).filter((code) => code !== good.base_code)
  const moved = codes.filter((_, index) => index % count === 0)
  const rates = moved.map((code) => [code, (good.rates[code] ?? NaN) * factor])
  return withRates(good, Object.fromEntries(rates))
}
