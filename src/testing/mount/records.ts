import { expectSame } from '../expect-same.ts'
import type { MountResponse, Rule } from './trial.ts'

/** What the records of a mount must be like. */
export const RECORDS: Readonly<Record<string, Rule>> = {
  async 'answers with all latest rates, or with those asked for'({
    requestOk: askGood,
    pair: [base, other],
  }) {
    const { record } = await askGood(`/v1/latest?base=${base}`)
    expectSame('base', record['base'], base)
    expectSame('the rate of the base', fieldOf(record['rates'], base), 1)
    expectSame('updatedAt in whole ms', Number.isInteger(record['updatedAt']), true)
    expectSame('nextUpdateAt in whole ms', Number.isInteger(record['nextUpdateAt']), true)
    const rate = fieldOf(record['rates'], other)
    const some = await askGood(`/v1/latest?base=${base.toLowerCase()}&symbols=${other}`)
    const asked = JSON.stringify({ [other]: rate })
    expectSame('rates, of one symbol', JSON.stringify(some.record['rates']), asked)
  },
  async 'converts at the rate of the table, by the earlier endpoints too'({
    requestOk: askGood,
    pair,
  }) {
    const [from, to] = pair
    const table = await askGood(`/v1/latest?base=${from}`)
    const rate = fieldOf(table.record['rates'], to)
    for (const path of ['/v1/convert', '/convert']) {
      const { record } = await askGood(`${path}?from=${from}&to=${to}&amount=1`)
      expectSame(`the rate of ${path}`, record['rate'], rate)
      expectSame(`the result of ${path}`, record['result'], rate)
    }
    const { record } = await askGood(`/rates?base=${from}`)
    expectSame('the rate of /rates', fieldOf(record['rates'], to), rate)
  },
  async 'answers with history, one point a day'({ requestOk: askGood, pair: [from, to] }) {
    const { record } = await askGood(`/v1/history?from=${from}&to=${to}&period=1M`)
    const points: unknown[] = Array.isArray(record['points']) ? record['points'] : []
    const days = points.map((point) => String(fieldOf(point, 'd')))
    expectSame('that there are points', days.length > 0, true)
    expectSame('the days', days.join(), [...new Set(days)].sort().join())
    expectSame('stats.close', fieldOf(record['stats'], 'close'), fieldOf(points.at(-1), 'r'))
  },
  async 'answers with history from a day on, and with the table of a day'({
    requestOk: askGood,
    pair,
  }) {
    const [from, to] = pair
    const { record } = await askGood(`/v1/history?from=${from}&to=${to}&period=1M`)
    const [, ...later]: unknown[] = Array.isArray(record['points']) ? record['points'] : []
    const [start, end] = [later[0], later.at(-1)].map((point) => String(fieldOf(point, 'd')))
    const range = await askGood(`/v1/history?from=${from}&to=${to}&start=${start}`)
    expectSame('the points', JSON.stringify(range.record['points']), JSON.stringify(later))
    const table = await askGood(`/v1/latest?date=${end}&base=${from}&symbols=${to}`)
    expectSame('the date', table.record['date'], end)
    expectSame('its rate', fieldOf(table.record['rates'], to), fieldOf(later.at(-1), 'r'))
  },
  async 'writes the same as CSV where it is asked to'({ requestOk: askGood, pair: [from, to] }) {
    for (const path of ['/v1/latest', '/rates', '/v1/history']) {
      const query = path === '/v1/history' ? `from=${from}&to=${to}` : `base=${from}`
      const { header, text } = await askGood(`${path}?${query}&format=csv`)
      const form = header('content-type').split(';', 1).join()
      expectSame(`the content-type of ${path}`, form, 'text/csv')
      const cells = text.split('\r\n').filter((line) => line.includes(`${from},${to},`))
      expectSame(`that ${path} has ${from} in ${to}`, cells.length > 0, true)
    }
  },
  async 'lists the currencies that it covers'({ requestOk: askGood, pair }) {
    const { record } = await askGood('/v1/currencies')
    const currencies: unknown[] = Array.isArray(record['currencies']) ? record['currencies'] : []
    for (const code of pair) {
      const currency = currencies.find((one) => fieldOf(one, 'code') === code)
      expectSame(`that latest rates cover ${code}`, fieldOf(currency, 'latest'), true)
    }
  },
  async 'describes itself'({ requestOk: askGood }) {
    const { record } = await askGood('/v1/openapi.json')
    expectSame('the version of OpenAPI', record['openapi'], '3.1.1')
  },
  async 'tells how it stands'({ requestOk: askGood }) {
    const { record, header } = await askGood('/v1/status')
    expectSame('the type of ready', typeof record['ready'], 'boolean')
    expectSame('cache-control', header('cache-control'), 'no-store')
  },
  async 'decodes a query, and that once'({ request: ask, requestOk: askGood, pair: [one, other] }) {
    const escaped = one.charCodeAt(0).toString(16) + one.slice(1)
    const plain = await askGood(`/v1/latest?base=${one}&symbols=${one},${other}`)
    const encoded = await askGood(`/v1/latest?base=%${escaped}&symbols=${one}%2C${other}`)
    expectSame('the answer to an encoded query', encoded.text, plain.text)
    const { status } = await ask(`/v1/latest?base=%25${escaped}`)
    expectSame('the status of a query encoded twice', status, 400)
  },
  async 'lets no header choose the answer'({ request: ask }) {
    const plain = await ask('/v1/latest', { headers: UNCOMPRESSED })
    expectSame('the status of /v1/latest', plain.status, 200)
    for (const [name, value] of Object.entries(IGNORED)) {
      const heard = await ask('/v1/latest', { headers: { ...UNCOMPRESSED, [name]: value } })
      expectSame(`the answer to a request with ${name}`, essence(heard), essence(plain))
    }
  },
  async 'answers many at once alike'({ requestOk: askGood, pair: [from, to] }) {
    const path = `/v1/convert?from=${from}&to=${to}&amount=12.5`
    const plain = await askGood(path)
    const others = await Promise.all(Array.from({ length: 50 }, () => askGood(path)))
    for (const other of others) expectSame('one answer of many', essence(other), essence(plain))
  },
}

/** Headers that steer some servers. */
const IGNORED = {
  accept: 'text/html',
  'accept-language': 'de',
  authorization: 'Bearer token',
  cookie: 'session=1',
  forwarded: 'host=other.example;proto=https',
  'if-modified-since': 'Fri, 31 Dec 2099 23:59:59 GMT',
  origin: 'https://other.example',
  range: 'bytes=0-10',
  'x-forwarded-host': 'other.example',
  'x-forwarded-prefix': '/other',
  'x-http-method-override': 'DELETE',
  'x-original-url': '/other',
}

/** `fetch` asks for compressed bodies unless the request has `Range`, and compressed bodies have other entity tags. */
const UNCOMPRESSED = { 'accept-encoding': 'identity' }

function essence({ status, text, header }: MountResponse): string {
  const headers = [header('etag'), variesBy(header('vary')), header('access-control-allow-origin')]
  return [status, ...headers, text].join('\n')
}

/** The names in a `Vary`, sorted, without `Accept-Encoding`: hosts that compress may add it to any response. */
function variesBy(vary: string): string {
  const names = vary.split(',').map((name) => name.trim().toLowerCase())
  const others = names.filter((name) => name !== '' && name !== 'accept-encoding')
  return others.toSorted().join(', ')
}

function fieldOf(value: unknown, name: string): unknown {
  return Object(value)[name]
}
