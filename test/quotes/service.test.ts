import { describe, expect, it } from 'vitest'

import { createRatesClient } from '../../src/client/index.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandlerOptions } from '../../src/index.ts'
import { createQuotes } from '../../src/quotes/index.ts'
import { openGuarded } from '../access/service.ts'
import { NOW, openService } from '../fixtures/service.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const OPTION = { quotes: { secrets: [SECRET] } }

/** Creates a service in virtual time with quotes, and functions that request it. */
function open(options: RatesHandlerOptions = OPTION) {
  const service = openService(options)
  async function ask(target: string, init?: RequestInit) {
    const response = await service.get(`/api/v1/${target}`, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const json = async (target: string) => JSON.parse((await ask(target)).text)
  const post = async (rows: unknown, query = '') => {
    const headers = { 'content-type': 'application/json' }
    return ask(`convert${query}`, { method: 'POST', headers, body: JSON.stringify(rows) })
  }
  return { ...service, ask, json, post }
}

/** A service that has no rates, and records if it looks for some. */
function openWithoutRates() {
  const calls: string[] = []
  const fail = (what: string) => () => {
    calls.push(what)
    return Promise.reject(new Error('secret'))
  }
  const attribution = { name: 'Down', url: 'https://down.example' }
  const providers = {
    latest: { attribution, fetchLatest: fail('upstream') },
    history: { attribution, fetchHistory: fail('upstream') },
  }
  const store = { get: fail('store'), set: fail('store') }
  return { ...open({ ...OPTION, providers, store }), calls }
}

const errorText = (code: string, message: string) => JSON.stringify({ error: { code, message } })

const invalid = (hint: string) => errorText('invalid_parameter', `Invalid parameter: ${hint}`)

const INVALID_QUOTE = errorText(
  'invalid_quote',
  'Invalid quote (not issued by this service, or for other currencies or another context)',
)

const shop = open()
const pair = await shop.json('quote?from=USD&to=EUR')
const bound = await shop.json('quote?from=USD&to=EUR&amount=10&context=cart+1')

describe('GET /v1/quote', () => {
  it('returns the conversion with a quote, which is not cached', async () => {
    const { ask, json, handler } = open()
    const conversion = 'from=USD&to=EUR&amount=99.90&round=minor'
    const { status, headers, text } = await ask(`quote?${conversion}&context=cart+1`)
    const { quote, jti, expiresAt, ...rest } = JSON.parse(text)
    expect(status).toBe(200)
    expect(rest).toEqual(await json(`convert?${conversion}`))
    expect([quote, jti, expiresAt]).toEqual([
      expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]{43}$/),
      expect.stringMatching(/^[\da-f-]{36}$/),
      NOW + 600_000,
    ])
    expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null])
    const { responseCacheBytes } = handler.inspect()
    const again = await ask(`quote?${conversion}&context=cart+1`)
    expect(JSON.parse(again.text)).not.toEqual(JSON.parse(text))
    await ask(`convert?quote=${quote}&context=cart+1`)
    expect(handler.inspect().responseCacheBytes).toBe(responseCacheBytes)
    const head = await ask(`quote?${conversion}`, { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', null])
  })

  it.each([
    ...['reverse=true', 'date=2026-11-19', 'rule=exact', 'source=ecb', 'expand=sources'].map(
      (parameter) => [parameter, 'use /v1/convert'],
    ),
    ...['format=csv', 'markup=-50', 'ttl=30d'].map((parameter) => [parameter, 'unknown']),
    ['contxt=1', 'did you mean context?'],
  ])('does not let a client choose %s', async (parameter = '', advice) => {
    const { status, text } = await shop.ask(`quote?from=USD&to=EUR&${parameter}`)
    const [name] = parameter.split('=')
    expect(status).toBe(400)
    expect(text).toContain(`Invalid parameter: ${name} (${advice}`)
  })

  it('costs as much as its targets, and a conversion by a quote as much as one', async () => {
    const { send } = openGuarded({ plans: { public: '5/min' } }, OPTION)
    const left = async (target: string) => {
      const { header, text } = await send({ target })
      return { r: /;r=(\d+)/.exec(header('ratelimit') ?? '')?.[1], text }
    }
    expect((await left('/v1/quote?from=USD&to=EUR,JPY,CHF')).r).toBe('2')
    const { r, text } = await left('/v1/quote?from=USD&to=EUR')
    expect(r).toBe('1')
    expect((await left(`/v1/convert?quote=${JSON.parse(text).quote}`)).r).toBe('0')
  })

  it('is listed and served only with the option', async () => {
    const listed = { endpoints: { quote: '/api/v1/quote' } }
    const without = open({})
    expect(await (await shop.get('/api/v1')).json()).toMatchObject(listed)
    expect(await (await without.get('/api/v1')).json()).not.toMatchObject(listed)
    const { status, text } = await without.ask('quote?from=USD&to=EUR')
    expect([status, text]).toEqual([404, errorText('not_found', 'Not found (see /api/v1)')])
    const refused = await without.ask(`convert?quote=${pair.quote}`)
    const error = invalid('quote (this service has no quotes)')
    expect([refused.status, refused.text]).toEqual([400, error])
  })
})

describe('GET /v1/convert with a quote', () => {
  it('repeats the quote to the byte, without an upstream call and without the store', async () => {
    const till = openWithoutRates()
    for (const target of ['to=EUR', 'to=EUR,JPY', 'to=EUR&amount=12.50', 'to=JPY&round=minor']) {
      const { text } = await shop.ask(`quote?from=USD&${target}&context=cart+1`)
      const { quote } = JSON.parse(text)
      const charged = await till.ask(`convert?quote=${quote}&context=cart+1`)
      expect([charged.status, charged.text]).toEqual([200, text])
      expect(charged.headers.get('cache-control')).toBe('no-store')
      expect(charged.headers.get('etag')).toBeNull()
      const repeated = await till.ask(`convert?quote=${quote}&context=cart+1&from=usd&${target}`)
      expect(repeated.text).toBe(text)
    }
    expect(till.calls).toEqual([])
    expect((await till.ask('convert?from=USD&to=EUR')).status).toBe(502)
  })

  it('takes another amount, at the quoted rate', async () => {
    const { result } = await shop.json(`convert?quote=${pair.quote}&amount=100`)
    expect(result).toBeCloseTo(100 * pair.rate, 9)
  })

  const combined = invalid('quote (must not be combined with reverse, date or expand)')

  it.each([
    ...['context=cart+2', '', 'context=cart+1&to=JPY', 'context=cart+1&from=EUR'].map(
      (others): [string, string] => [others, INVALID_QUOTE],
    ),
    ...['date=2026-11-19', 'reverse=true', 'to=EUR&expand=sources'].map(
      (others): [string, string] => [`context=cart+1&${others}`, combined],
    ),
    ['context=cart+1&format=csv', invalid('quote (not supported in CSV)')],
    ['context=', invalid('context (must be 1 to 256 characters)')],
  ])('refuses %s', async (others, body) => {
    const { status, text } = await shop.ask(`convert?quote=${bound.quote}&${others}`)
    expect([status, text]).toEqual([400, body])
  })

  it.each([
    ...['x'.repeat(10_240), 'a.b.c', 'a.b', `${'a'.repeat(400)}.b.c`, '1'].map(
      (quote): [string, string] => [`quote=${quote}`, INVALID_QUOTE],
    ),
    ['from=USD&quote=EUR', invalid('quote (use to)')],
    ['from=USD&to=EUR&context=cart+1', invalid('context (requires quote)')],
  ])('refuses %.40s', async (query, body) => {
    const { status, text } = await shop.ask(`convert?${query}`)
    expect([status, text]).toEqual([400, body])
  })

  it('is 410 when the quote has expired, by the clock of the service', async () => {
    const { ask, json, runtime } = open({ quotes: { secrets: [SECRET], ttl: '1m' } })
    const { quote } = await json('quote?from=USD&to=EUR')
    await runtime.advance(59_999)
    expect((await ask(`convert?quote=${quote}`)).status).toBe(200)
    await runtime.advance(1)
    const { status, text } = await ask(`convert?quote=${quote}`)
    expect([status, text]).toEqual([410, errorText('quote_expired', 'The quote has expired')])
  })
})

describe('rows with a quote', () => {
  it('are converted at the quoted rate, also for a negative amount', async () => {
    const { quote } = bound
    const price = { quote, context: 'cart 1' }
    const plainRow = { from: 'USD', to: 'EUR', amount: 3 }
    const wrongQuotes = [
      { quote },
      { ...price, to: 'JPY' },
      { quote: 5 },
      { from: 'USD', quote: 'EUR' },
    ]
    const wrongNames = [
      { ...price, foo: 1 },
      { ...price, date: '2026-11-19' },
    ]
    const rows = [price, { ...price, amount: '-2.50', round: 'minor' }, plainRow]
    const { status, text } = await shop.post([...rows, ...wrongQuotes, ...wrongNames])
    const [first, refund, plain, ...refused] = JSON.parse(text)
    expect(status).toBe(200)
    expect(first).toEqual(bound)
    expect(refund).toMatchObject({ amount: -2.5, rate: bound.rate, jti: bound.jti })
    expect(Number(refund.rounded)).toBeCloseTo(-2.5 * bound.rate, 2)
    const { rates } = shop.handler
    expect(plain).toEqual(await rates.convert({ from: 'USD', to: 'EUR', amount: 3 }))
    const errors = refused.map((each: unknown) => JSON.stringify(each))
    expect(errors).toEqual([
      INVALID_QUOTE,
      INVALID_QUOTE,
      INVALID_QUOTE,
      invalid('quote (use to)'),
      invalid('foo (unknown; /v1/convert takes quote, context, from, to, amount, round)'),
      expect.stringContaining('Invalid parameter: date ('),
    ])
  })

  it.each([
    [50, 1, 200],
    [51, 2, 200],
    [500, 10, 200],
    // Refused before a signature is verified.
    [501, 1, 400],
  ])('cost as much as twenty others each, and are at most 500: %d', async (count, cost, status) => {
    const { send } = openGuarded({ plans: { public: '10/min' } }, OPTION)
    const rows = Array.from({ length: count }, () => ({ quote: `a.b.${'A'.repeat(43)}` }))
    const headers = { 'content-type': 'application/json' }
    const sent = { method: 'POST', target: '/v1/convert', headers, body: JSON.stringify(rows) }
    const { header, text, ...response } = await send(sent)
    const left = /;r=(\d+)/.exec(header('ratelimit') ?? '')?.[1]
    expect([response.status, left]).toEqual([status, String(10 - cost)])
    const refused = invalid('rows (must have at most 500 with a quote)')
    expect(text === refused).toBe(status === 400)
  })

  it('are errors of their own if a code is the quote, in CSV, and without the option', async () => {
    const { quote } = pair
    const code = { from: 'USD', quote: 'EUR' }
    const { text } = await shop.post(Array.from({ length: 501 }, () => code))
    expect(text).toBe(`[${Array(501).fill(invalid('quote (use to)')).join()}]`)
    const inCsv = await shop.post([{ quote }], '?format=csv')
    expect(inCsv.text).toContain('quote (not supported in CSV)')
    const without = await open({}).post([{ quote }, code])
    const missing = invalid('quote (this service has no quotes)')
    expect(without.text).toBe(`[${missing},${invalid('quote (use to)')}]`)
    const headers = { 'content-type': 'text/csv' }
    const body = `from,to,amount,quote\nUSD,EUR,1,${quote}\n`
    const csv = await shop.ask('convert', { method: 'POST', headers, body })
    expect([csv.status, csv.text]).toEqual([400, invalid('quote (use to)')])
  })
})

describe('the option quotes', () => {
  it.each([
    [{}, 'secrets must be a non-empty array'],
    [{ secrets: ['short secret'] }, 'at least 32 bytes'],
    [{ secrets: [SECRET], markup: '1' }, 'unknown option "quotes.markup"'],
    ['secret', 'quotes must be an object'],
  ])('%j is an error at creation', (quotes, message) => {
    const create = () => createRatesHandler(Object({ quotes }))
    expect(create).toThrow(TypeError)
    expect(create).toThrow(message)
    expect(create).not.toThrow(/short secret|thirty-two/)
  })

  it('shares its quotes with createQuotes(), also after the app clears its secret', async () => {
    const secret = new TextEncoder().encode(SECRET)
    const { handler, runtime, json } = open({ quotes: { secrets: [secret] } })
    secret.fill(0)
    const { quote } = await json('quote?from=USD&to=EUR')
    const quotes = createQuotes({ rates: handler.rates, secrets: [SECRET], now: runtime.now })
    expect(await quotes.convert(quote)).toMatchObject({ quote })
    const terms = { from: 'USD', to: 'EUR', reverse: true, markup: '2' } as const
    const made = await quotes.create(terms)
    const { result } = made
    const redeemed = await json(`convert?quote=${made.quote}`)
    expect(redeemed).toMatchObject({ result, reverse: true, markup: '2' })
  })
})

it('a client makes and redeems quotes, and says where a service may have none', async () => {
  const clientOf = (options: RatesHandlerOptions) =>
    createRatesClient({ baseUrl: 'http://localhost/api', fetch: open(options).handler })
  const client = clientOf(OPTION)
  const shown = await client.quote({ from: 'USD', to: ['EUR', 'JPY'], context: 'a,b' })
  const { quote } = shown
  expect(await client.convert({ quote, context: 'a,b' })).toEqual(shown)
  const one = await client.convert({ quote, context: 'a,b', from: 'USD', to: 'JPY', amount: 5 })
  expect(one).toMatchObject({ to: 'JPY', rate: shown.results.JPY.rate })
  await expect(client.convert({ quote })).rejects.toMatchObject({ code: 'invalid_quote' })
  const made = clientOf({}).quote({ from: 'USD', to: 'EUR' })
  await expect(made).rejects.toThrow(/ \(the service has no quotes, or baseUrl must end/)
})
