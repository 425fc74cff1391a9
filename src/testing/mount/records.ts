import { expectSame, expectThat } from '../expect-same.ts'
import type { MountResponse, Rule } from './trial.ts'

/** Rules for successful responses. */
export const RECORDS: Readonly<Record<string, Rule>> = {
  async 'returns all latest rates, or the requested symbols'({ requestOk, pair: [base, other] }) {
    const { record } = await requestOk(`/v1/latest?base=${base}`)
    const { updatedAt, nextUpdateAt, rates } = record
    expectSame('base', record['base'], base)
    expectSame('the rate of the base', fieldOf(rates, base), 1)
    expectThat('updatedAt to be an integer', Number.isInteger(updatedAt), updatedAt)
    expectThat('nextUpdateAt to be an integer', Number.isInteger(nextUpdateAt), nextUpdateAt)
    const some = await requestOk(`/v1/latest?base=${base.toLowerCase()}&symbols=${other}`)
    const expected = JSON.stringify({ [other]: fieldOf(rates, other) })
    expectSame('rates with one symbol', JSON.stringify(some.record['rates']), expected)
  },
  async 'converts at the latest rate, on /v1 and unversioned endpoints'({ requestOk, pair }) {
    const [from, to] = pair
    const table = await requestOk(`/v1/latest?base=${from}`)
    const rate = fieldOf(table.record['rates'], to)
    for (const path of ['/v1/convert', '/convert']) {
      const { record } = await requestOk(`${path}?from=${from}&to=${to}&amount=1`)
      expectSame(`the rate of ${path}`, record['rate'], rate)
      expectSame(`the result of ${path}`, record['result'], rate)
    }
    const { record } = await requestOk(`/rates?base=${from}`)
    expectSame('the rate of /rates', fieldOf(record['rates'], to), rate)
  },
  async 'returns history with one point per day'({ requestOk, pair: [from, to] }) {
    const { record } = await requestOk(`/v1/history?from=${from}&to=${to}&period=1M`)
    const points: unknown[] = Array.isArray(record['points']) ? record['points'] : []
    const days = points.map((point) => String(fieldOf(point, 'd')))
    expectThat('at least one point', days.length > 0, days.length)
    expectSame('the days', days.join(), [...new Set(days)].sort().join())
    expectSame('stats.close', fieldOf(record['stats'], 'close'), fieldOf(points.at(-1), 'r'))
  },
  async 'returns history from a start day, and the rates of a day'({ requestOk, pair }) {
    const [from, to] = pair
    const { record } = await requestOk(`/v1/history?from=${from}&to=${to}&period=1M`)
    const [, ...later]: unknown[] = Array.isArray(record['points']) ? record['points'] : []
    const [start, end] = [later[0], later.at(-1)].map((point) => String(fieldOf(point, 'd')))
    const range = await requestOk(`/v1/history?from=${from}&to=${to}&start=${start}`)
    const points = JSON.stringify(range.record['points'])
    expectSame(`the points from ${start}`, points, JSON.stringify(later))
    const table = await requestOk(`/v1/latest?date=${end}&base=${from}&symbols=${to}`)
    expectSame('the date', table.record['date'], end)
    const rate = fieldOf(table.record['rates'], to)
    expectSame(`the rate of ${end}`, rate, fieldOf(later.at(-1), 'r'))
  },
  async 'returns CSV for format=csv'({ requestOk, pair: [from, to] }) {
    for (const path of ['/v1/latest', '/rates', '/v1/history']) {
      const query = path === '/v1/history' ? `from=${from}&to=${to}` : `base=${from}`
      const { header, text } = await requestOk(`${path}?${query}&format=csv`)
      const form = header('content-type').split(';', 1).join()
      expectSame(`the content-type of ${path}`, form, 'text/csv')
      const hasPair = text.split('\r\n').some((line) => line.includes(`${from},${to},`))
      expectThat(`CSV of ${path} with ${from} in ${to}`, hasPair, text)
    }
  },
  async 'lists the covered currencies'({ requestOk, pair }) {
    const { record } = await requestOk('/v1/currencies')
    const currencies: unknown[] = Array.isArray(record['currencies']) ? record['currencies'] : []
    for (const code of pair) {
      const currency = currencies.find((one) => fieldOf(one, 'code') === code)
      expectSame(`latest of ${code} in /v1/currencies`, fieldOf(currency, 'latest'), true)
    }
  },
  async 'returns the OpenAPI document'({ requestOk }) {
    const { record } = await requestOk('/v1/openapi.json')
    expectSame('the version of OpenAPI', record['openapi'], '3.1.1')
  },
  async 'returns the status of the service'({ requestOk }) {
    const { record, header } = await requestOk('/v1/status')
    expectSame('the type of ready', typeof record['ready'], 'boolean')
    expectSame('cache-control of /v1/status', header('cache-control'), 'no-store')
  },
  async 'decodes the query exactly once'({ request, requestOk, pair: [one, other] }) {
    const escaped = one.charCodeAt(0).toString(16) + one.slice(1)
    const plain = await requestOk(`/v1/latest?base=${one}&symbols=${one},${other}`)
    const encoded = await requestOk(`/v1/latest?base=%${escaped}&symbols=${one}%2C${other}`)
    expectSame('the response to an encoded query', encoded.text, plain.text)
    const { status } = await request(`/v1/latest?base=%25${escaped}`)
    expectSame('the status of a query encoded twice', status, 400)
  },
  async 'ignores request headers that must not affect the response'({ request }) {
    const plain = await request('/v1/latest', { headers: UNCOMPRESSED })
    expectSame('the status of /v1/latest', plain.status, 200)
    for (const [name, value] of Object.entries(IGNORED)) {
      const other = await request('/v1/latest', { headers: { ...UNCOMPRESSED, [name]: value } })
      expectSame(`the response to a request with ${name}`, essence(other), essence(plain))
    }
  },
  async 'returns the same response to 50 concurrent requests'({ requestOk, pair: [from, to] }) {
    const path = `/v1/convert?from=${from}&to=${to}&amount=12.5`
    const plain = await requestOk(path)
    const others = await Promise.all(Array.from({ length: 50 }, () => requestOk(path)))
    for (const other of others)
      expectSame(`each response of ${path}`, essence(other), essence(plain))
  },
}

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

/** `fetch` requests compressed bodies unless the request has `Range`, and compressed bodies have other entity tags. */
const UNCOMPRESSED = { 'accept-encoding': 'identity' }

function essence({ status, text, header }: MountResponse): string {
  const headers = [header('etag'), variesBy(header('vary')), header('access-control-allow-origin')]
  return [status, ...headers, text].join('\n')
}

/** Returns the sorted names of a `Vary` without `Accept-Encoding`, which hosts that compress may add to any response. */
function variesBy(vary: string): string {
  const names = vary.split(',').map((name) => name.trim().toLowerCase())
  const others = names.filter((name) => name !== '' && name !== 'accept-encoding')
  return others.toSorted().join(', ')
}

function fieldOf(value: unknown, name: string): unknown {
  return Object(value)[name]
}
