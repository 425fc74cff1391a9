import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { createMcpHandler } from '../../src/mcp/index.ts'
import { fetchFromFeeds } from '../fixtures/feeds.ts'
import { NOW } from '../fixtures/service.ts'

const handler = createRatesHandler({ fetch: fetchFromFeeds, now: () => NOW })

/** Returns a message of the protocol of 2025, which needs no handshake. */
function messageTo(url: string, method: string, params: object = {}): Request {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return new Request(url, { method: 'POST', headers, body })
}

const mcp = createMcpHandler(handler.rates)

async function send(method: string, params?: object) {
  const response = await mcp(messageTo('http://localhost/mcp', method, params))
  const [, data = ''] = /^data: (.*)$/m.exec(await response.text()) ?? []
  return JSON.parse(data).result
}

const call = async (name: string, given: object) => send('tools/call', { name, arguments: given })

async function answer(path: string, given: object): Promise<{ isError: boolean; text: string }> {
  const query = Object.entries(given).map(([name, value]) => [name, String(value)])
  const target = `http://localhost/api/v1/${path}?${new URLSearchParams(query)}`
  const response = await handler(new Request(target))
  return { isError: response.status !== 200, text: await response.text() }
}

const common = fc.constantFrom('USD', 'eur', 'JPY', 'GBP', 'ISK', 'KRW', 'PLN', 'TRY')
const rare = fc.constantFrom('DEM', 'AED', 'GBp', 'XXX', 'euro')
const code = fc.oneof({ arbitrary: common, weight: 30 }, { arbitrary: rare, weight: 1 })
const day = fc
  .date({ min: new Date('1999-01-08'), max: new Date('2026-11-25'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const amount = fc.oneof(
  fc.double({ min: 0, max: 1e9, noNaN: true }),
  fc.integer({ min: -1, max: 1e6 }).map((cents) => `${cents / 100}`),
)
const rule = fc.constantFrom('on-or-before', 'exact', 'next', 'previous-business-day', 'period-end')
const pair = { from: code, to: code }
const interval = fc.constantFrom('day', 'week', 'year')

/** Adds the rules for days to half of the questions. */
const dated = (question: fc.Arbitrary<object>): fc.Arbitrary<object> => {
  const source = fc.constantFrom('ecb', 'ecb', 'ecb', 'none')
  const rules = { date: day, rule, maxAge: fc.nat(30), source }
  const days = fc.oneof(fc.constant({}), fc.record(rules, { requiredKeys: ['date'] }))
  return fc.tuple(question, days).map(([one, two]) => ({ ...one, ...two }))
}
const conversion = {
  ...pair,
  amount,
  round: fc.constantFrom('minor', 'cash'),
  reverse: fc.boolean(),
}
const table = { base: code, symbols: fc.array(code, { minLength: 1, maxLength: 3 }) }
const period = fc.constantFrom('1W', '1M', '5Y')

/** The tools with an endpoint, and parameters of random questions. */
const QUESTIONS: Record<string, [path: string, params: fc.Arbitrary<object>]> = {
  convert: ['convert', dated(fc.record(conversion, { requiredKeys: ['from', 'to'] }))],
  get_rates: ['latest', dated(fc.record(table, { requiredKeys: [] }))],
  get_history: [
    'history',
    fc.oneof(
      fc.record({ ...pair, period, interval }, { requiredKeys: ['from', 'to'] }),
      fc.record({ ...pair, start: day, interval }, { requiredKeys: ['from', 'to', 'start'] }),
      fc.record({ ...pair, start: day, end: day }),
    ),
  ],
}

interface History {
  points: readonly { d: string }[]
}

/** Returns the history with the points of the tool, which must be 60, with both ends and equal distances. */
function thinnedLike({ points }: History, whole: History): object {
  const places = points.map(({ d }) => whole.points.findIndex((each) => each.d === d))
  const steps = places.slice(1).map((place, index) => place - (places[index] ?? 0))
  const isEven = Math.max(...steps) - Math.min(...steps) <= 1
  expect([places.length, places[0], places.at(-1)]).toEqual([60, 0, whole.points.length - 1])
  expect(isEven).toBe(true)
  const kept = places.map((place) => whole.points[place])
  return { ...whole, points: kept, omitted: whole.points.length - 60 }
}

const ajv = formats.default(new Ajv2020({ strict: false }))

describe('the tools', () => {
  it.each(Object.entries(QUESTIONS))(
    '%s answers random questions as its endpoint does, by its schemas',
    async (name, [path, params]) => {
      const { tools } = await send('tools/list')
      const tool = tools.find((each: { name: string }) => each.name === name)
      const [isInput, isOutput] = [tool.inputSchema, tool.outputSchema].map((each) =>
        ajv.compile(each),
      )
      let answered = 0
      for (const given of fc.sample(params, { numRuns: 160, seed: 50 })) {
        const { isError, text } = await answer(path, given)
        const body = JSON.parse(text)
        const {
          structuredContent: record,
          isError: hasFailed = false,
          ...called
        } = await call(name, given)
        const message: unknown = hasFailed ? called.content[0].text : undefined
        const expected = body.error?.message.replace('/v1/currencies', 'find_currency')
        expect([given, hasFailed, message]).toEqual([given, isError, expected])
        if (isError) continue
        answered += 1
        const whole = record.omitted === undefined ? body : thinnedLike(record, body)
        expect(JSON.stringify(record)).toBe(JSON.stringify(whole))
        expect([given, isInput?.(given), isOutput?.(record)]).toEqual([given, true, true])
      }
      expect(answered).toBeGreaterThanOrEqual(100)
    },
  )

  const PAIR = { from: 'USD', to: 'EUR' }
  const ECB = 'European Central Bank \\(via Frankfurter\\)'
  const SPAN = { start: '2026-11-12', end: '2026-11-13' }
  const BACK = { amount: 50, reverse: true, date: '2026-11-14' }
  const TABLE = { base: 'eur', symbols: ['USD', 'JPY'], date: '2026-11-13' }

  it.each([
    [
      'convert',
      { ...PAIR, amount: '99.90', round: 'minor' },
      '99.9 USD = 85.28 EUR at 0.853679 .*',
    ],
    ['convert', { ...PAIR, amount: 1 }, '.* \\(Rates By Exchange Rate API, 2026-11-20\\)'],
    ['convert', { ...PAIR, ...BACK }, `\\S+ USD = 50 EUR at \\S+ \\(${ECB}, 2026-11-13\\)`],
    ['get_rates', TABLE, `1 EUR = \\S+ JPY, \\S+ USD \\(${ECB}, 2026-11-13\\)`],
    ['get_rates', {}, '1 USD = (\\S+ [A-Z]{3}, ){11}\\S+ [A-Z]{3} and \\d+ more \\(.*'],
    ['get_history', { ...PAIR, ...SPAN }, '1 USD = \\S+ EUR on 2026-11-12, \\S+ on 2026-11-13 .*'],
    ['get_history', { ...PAIR, ...SPAN }, `.* \\(\\S+ %\\); high .* average \\S+ \\(${ECB}.*`],
    ['find_currency', { query: 'DEM' }, 'DEM \\(German Mark, withdrawn on 1999-01-01: use EUR\\)'],
    ['get_status', {}, `latest rates of Rates By Exchange .* of 2026-11-20, ${ECB} to 2026-11-20`],
  ])('%s says in one line what it found: %j', async (name, given, line) => {
    const { content } = await call(name, given)
    expect(content[0].text).toMatch(new RegExp(`^${line}$`))
  })

  it.each([
    ['$', ['USD']],
    ['swiss franc', ['CHF']],
    ['Kenya', ['KES']],
    ['978', ['EUR']],
    ['German Mark', ['DEM']],
    ['bitcoin', []],
  ])('find_currency finds %s as /api/v1/currencies describes it', async (query, [first]) => {
    const { currencies } = (await call('find_currency', { query })).structuredContent
    expect(currencies[0]?.code).toBe(first)
    expect(currencies.length).toBeLessThanOrEqual(10)
    if (first === undefined) return
    const { text } = await answer('currencies', { symbols: first })
    expect(currencies.slice(0, 1)).toEqual(JSON.parse(text).currencies)
  })

  it('get_status returns the record of /api/v1/status', async () => {
    const { structuredContent } = await call('get_status', {})
    expect(structuredContent).toEqual(JSON.parse((await answer('status', {})).text))
  })

  it.each([
    ['convert', { ...PAIR, to: ['EUR'] }, /^Invalid to currency: \[object\] \(must be three let/],
    ['convert', { ...PAIR, quantity: 3 }, /quantity \(use amount\)/],
    ['convert', { ...PAIR, expand: '' }, /expand \(unknown; the tool takes from, to, amount/],
    ['convert', { ...PAIR, from: 'DEM' }, /DEM.*EUR/],
    ['convert', { ...PAIR, from: 'XQQ' }, /see find_currency/],
    ['get_history', { ...PAIR, to: ['EUR'] }, /^Invalid to currency/],
    ['get_history', { ...PAIR, fill: 'previous' }, /fill \(unknown; the tool/],
    ['find_currency', { query: 'pence' }, /type the amount in whole units/],
    ['find_currency', { query: 'GBX' }, /divide the amount by 100/],
    ['find_currency', {}, /query/],
  ])('%s refuses %j and says what to send', async (name, given, message) => {
    const text = expect.stringMatching(message)
    expect(await call(name, given)).toEqual({ isError: true, content: [{ type: 'text', text }] })
  })

  it('get_history leaves points out only of more than 60', async () => {
    const { points } = await handler.rates.history({ from: 'USD', to: 'EUR', period: '6M' })
    const omitted = [60, 61].map(async (count) => {
      const given = { from: 'USD', to: 'EUR', start: points.at(-count)?.d }
      return (await call('get_history', given)).structuredContent.omitted
    })
    expect(await Promise.all(omitted)).toEqual([undefined, 1])
  })

  it('describe the rates of each handler', async () => {
    const status = await handler.rates.status()
    const other = createMcpHandler({
      ...handler.rates,
      latest: async (params) => ({ ...(await handler.rates.latest(params)), date: '2026-01-02' }),
      currencies: async () => ({
        currencies: [Object({ code: 'ABC', name: 'Abacus', symbol: '¤' })],
      }),
      status: async () => ({ ...status, history: { ...Object(status.history), stale: true } }),
    })
    const lineOf = async (name: string, given: object) => {
      const params = { name, arguments: given }
      return (await other(messageTo('http://localhost/', 'tools/call', params))).text()
    }
    expect(await lineOf('get_rates', { symbols: ['EUR'] })).toContain('API, 2026-01-02)"')
    expect(await lineOf('find_currency', { query: '¤' })).toContain('"ABC (Abacus)"')
    expect(await lineOf('get_status', {})).toContain(', some overdue"')
  })

  it('are described in at most 9000 bytes', async () => {
    expect(JSON.stringify(await send('tools/list')).length).toBeLessThanOrEqual(9_000)
  })

  it('keep unexpected errors to themselves', async () => {
    const rates = { ...handler.rates, status: () => Promise.reject(new Error('secret')) }
    const params = { name: 'get_status', arguments: {} }
    const message = messageTo('http://localhost/', 'tools/call', params)
    const response = await createMcpHandler(rates)(message)
    expect(await response.text()).toContain('"text":"Internal error"')
  })
})

describe('createMcpHandler()', () => {
  const hosts = "allowedHosts must be a list like ['rates.example.com'], got"
  const origins = "allowedOrigins must be a list like ['https://a.example'], got"

  it.each([
    [{ allowedHosts: ['rates.example:8080'] }, `${hosts} rates.example:8080`],
    [{ allowedHosts: ['https://rates.example'] }, hosts],
    [{ allowedHosts: 'rates.example' }, hosts],
    [{ allowedOrigins: ['app.example'] }, `${origins} app.example`],
    [{ allowedOrigins: ['*'] }, origins],
  ])('refuses the options %j', (options, message) => {
    expect(() => createMcpHandler(handler.rates, Object(options))).toThrow(message)
  })

  const allowedHosts = ['rates.example']
  const allowedOrigins = ['https://app.example']
  const open = createMcpHandler(handler.rates, { allowedHosts, allowedOrigins })

  it.each([
    ['http://localhost/mcp', {}, 200],
    ['http://[::1]:3000/mcp', { origin: 'http://127.0.0.1:6274' }, 200],
    ['https://rates.example/mcp', { origin: 'https://app.example' }, 200],
    ['https://other.example/mcp', {}, 403],
    ['http://localhost/mcp', { host: 'other.example' }, 403],
    ['http://localhost/mcp', { origin: 'https://other.example' }, 403],
    ['http://localhost/mcp', { origin: 'http://app.example' }, 403],
    ['http://localhost/mcp', { origin: 'null' }, 403],
  ])('answers a message for %s with %j by %d', async (url, headers, status) => {
    const request = messageTo(url, 'ping')
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
    expect((await open(request)).status).toBe(status)
  })

  it('needs rates, not a handler', () => {
    expect(() => createMcpHandler(Object(handler))).toThrow('rates.convert must be a function')
  })

  it('responds where a body cannot be read', async () => {
    const request = messageTo('http://localhost/mcp', 'ping')
    await request.text()
    expect((await mcp(request)).status).toBe(400)
  })

  it('takes one message of at most 64 KiB in each request', async () => {
    const { url, headers } = messageTo('http://localhost/mcp', 'ping')
    const post = (body: string) => mcp(new Request(url, { method: 'POST', headers, body }))
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const statuses = [ping, ` [${ping}]`, ping.padEnd(65_536), ping.padEnd(65_537)].map(
      async (body) => (await post(body)).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 400, 200, 413])
  })
})
