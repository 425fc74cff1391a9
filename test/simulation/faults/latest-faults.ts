import { SECRET } from './upstream-fault.ts'
import type { Exchange, LatestPayload, UpstreamFault } from './upstream-fault.ts'

const MINUTE = 60_000
const DAY_SECONDS = 86_400

/** What goes wrong in the body of latest rates: its form, its times and its numbers. */
export const LATEST_FAULTS: readonly UpstreamFault[] = [
  text('JSON cut off', (whole) => whole.slice(0, whole.length * 0.7)),
  text('two documents', (whole) => whole + whole),
  text('NaN in the JSON', (whole) => whole.replace(/"EUR":[^,]+/, '"EUR":NaN')),
  text('rates are a list', (whole) => whole.replace(/"rates":.*/, '"rates":[1,2]}')),
  text('rates are empty', (whole) => whole.replace(/"rates":.*/, '"rates":{}}')),
  text('rates are missing', (whole) => whole.replace(/,"rates":.*/, '}')),
  text('null', () => 'null'),
  text('last update is missing', (whole) => whole.replace('time_last_update_unix', 'time_unknown')),
  text('another base', (whole) => whole.replace('"base_code":"USD"', '"base_code":"EUR"')),
  refusal('quota-reached', 20 * MINUTE),
  refusal('inactive-account', 15 * MINUTE),
  refusal('unknown-error', 0),
  table('in milliseconds', 'refuse', (sent) => {
    sent.time_last_update_unix *= 1_000
  }),
  table('from next month', 'refuse', (sent) => {
    sent.time_last_update_unix += 30 * DAY_SECONDS
  }),
  table('next update before the last', 'take', (sent) => {
    sent.time_next_update_unix = sent.time_last_update_unix - DAY_SECONDS
  }),
  table('next update in a month', 'take', (sent) => {
    sent.time_next_update_unix = sent.time_last_update_unix + 30 * DAY_SECONDS
  }),
  table('no next update', 'take', (sent) => {
    sent.time_next_update_unix = 0
  }),
  badRates('zero', 0),
  badRates('negative', -0.5),
  badRates('null', null),
  badRates('text', '0.86'),
  badRates('huge', 1e300),
  badRates('tiny', 1e-300),
  table('base is not 1', 'refuse', (sent) => {
    sent.rates['USD'] = 1.07
  }),
  table('one bad rate', 'take', (sent, { random }) => {
    sent.rates[random.pick(['EUR', 'JPY', 'TRY', 'AED'])] = random.pick([0, -1, 1e300])
  }),
  table('base is missing', 'take', (sent) => {
    delete sent.rates['USD']
  }),
  table('keys that are no codes', 'take', (sent) => {
    Object.assign(sent.rates, { toString: 1, constructor: 2, usd: 3, EURO: 4 })
    Object.defineProperty(sent.rates, '__proto__', { value: { EUR: 9 }, enumerable: true })
  }),
  table('one currency left', 'take', (sent) => {
    delete sent.rates['CZK']
  }),
  table('one currency joined', 'take', (sent) => {
    sent.rates['XCG'] = 1.79
  }),
  table('three quarters of the table', 'refuse when warm', (sent) => {
    for (const code of Object.keys(sent.rates).slice(24)) delete sent.rates[code]
  }),
  table('a handful of currencies', 'refuse', (sent) => {
    for (const code of Object.keys(sent.rates).slice(15)) delete sent.rates[code]
  }),
  table('thousands of currencies', 'refuse', (sent) => {
    for (let number = 0; number < 1_100; number += 1) sent.rates[toCode(number)] = 1 + number
  }),
  table('one rate times a thousand', 'take', (sent, { random }) => {
    const code = random.pick(['EUR', 'JPY', 'TRY'])
    sent.rates[code] = (sent.rates[code] ?? 1) * 1_000
  }),
  {
    // Whoever has nothing to compare with would take it, and then refuse the truth for days.
    name: 'table turned over',
    dataSets: ['latest'],
    verdict: 'refuse',
    answer(exchange) {
      if (!exchange.isWarm) return exchange.sendHealthy()
      const sent = exchange.table()
      for (const [code, rate] of Object.entries(sent.rates)) sent.rates[code] = 1 / rate
      return exchange.sendTable(sent)
    },
  },
  {
    name: 'an older publication',
    dataSets: ['latest'],
    verdict: 'take',
    answer: (exchange) => exchange.sendTable(exchange.table(exchange.random.whole(1, 3))),
  },
]

function text(name: string, alter: (whole: string) => string): UpstreamFault {
  return {
    name,
    dataSets: ['latest'],
    verdict: 'refuse',
    answer: (exchange) => exchange.send(alter(exchange.text())),
  }
}

function refusal(type: string, pause: number): UpstreamFault {
  const body = JSON.stringify({ result: 'error', 'error-type': type, documentation: SECRET })
  return {
    name: `result: error, ${type}`,
    dataSets: ['latest'],
    verdict: 'refuse',
    pause: () => pause,
    answer: (exchange) => exchange.send(body),
  }
}

function table(
  name: string,
  verdict: UpstreamFault['verdict'],
  alter: (sent: LatestPayload, exchange: Exchange) => void,
): UpstreamFault {
  return {
    name,
    dataSets: ['latest'],
    verdict,
    answer(exchange) {
      const sent = exchange.table()
      alter(sent, exchange)
      return exchange.sendTable(sent)
    },
  }
}

/** More than 5 % of the table. */
function badRates(name: string, bad: unknown): UpstreamFault {
  return table(`rates are ${name}`, 'refuse', (sent) => {
    Object.assign(sent.rates, { EUR: bad, JPY: bad, GBP: bad, CHF: bad })
  })
}

function toCode(number: number): string {
  const letter = (of: number): string => String.fromCodePoint(65 + (Math.floor(of) % 26))
  return letter(number / 676) + letter(number / 26) + letter(number)
}
