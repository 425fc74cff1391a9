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
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  }
  const json = async (target: string) => JSON.parse((await ask(target)).text)
  const post = async (rows: unknown, query = '') => {
    const headers = { 'content-type': 'application/json' }
    return ask(`convert${query}`, { method: 'POST', headers, body: JSON.stringify(rows) })
  }
  return { ...service, ask, json, post }
}

/** A service that has no rates, and fails the test if it looks for some. */
function openWithoutRates() {
  const calls: string[] = []
  const fail = (what: string) => () => {
    calls.push(what)
    return Promise.reject(new Error('secret'))
  }
  const attribution = { name: 'Down', url: 'https://down.example' }
  const service = open({
    ...OPTION,
    providers: {
      latest: { attribution, fetchLatest: fail('upstream') },
      history: { attribution, fetchHistory: fail('upstream') },
    },
    store: { get: fail('store'), set: fail('store') },
  })
  return { ...service, calls }
}

const invalid = (hint: string) =>
  JSON.stringify({
    error: { code: 'invalid_parameter', message: `Invalid parameter: ${hint}` },
  })

const INVALID_QUOTE = JSON.stringify({
  error: {
    code: 'invalid_quote',
    message:
      'Invalid quote (not issued by this service, or for other currencies or another context)',
  },
})

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
    const { etag, ...sent }: Record<string, string> = Object.fromEntries(headers)
    expect(etag).toBeUndefined()
    expect(sent).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
    })
    const { responseCacheBytes } = handler.inspect()
    const again = await ask(`quote?${conversion}&context=cart+1`)
    expect(JSON.parse(again.text)).not.toEqual(JSON.parse(text))
    await ask(`convert?quote=${quote}&context=cart+1`)
    expect(handler.inspect().responseCacheBytes).toBe(responseCacheBytes)
    const head = await ask(`quote?${conversion}`, { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', null])
  })

  it.each([
    ['reverse=true', 'use /v1/convert'],
    ['date=2026-11-19', 'use /v1/convert'],
    ['rule=exact', 'use /v1/convert'],
    ['source=ecb', 'use /v1/convert'],
    ['expand=sources', 'use /v1/convert'],
    ['format=csv', 'unknown'],
    ['markup=-50', 'unknown'],
    ['ttl=30d', 'unknown'],
    ['contxt=1', 'did you mean context?'],
  ])('does not let a client choose %s', async (parameter, advice) => {
    const { status, text } = await open().ask(`quote?from=USD&to=EUR&${parameter}`)
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

  it('is listed only with the option', async () => {
    const listed = { endpoints: { quote: '/api/v1/quote' } }
    const index = async (options?: RatesHandlerOptions) =>
      (await open(options).get('/api/v1')).json()
    expect(await index()).toMatchObject(listed)
    expect(await index({})).not.toMatchObject(listed)
    const { status, text } = await open({}).ask('quote?from=USD&to=EUR')
    expect([status, text]).toEqual([
      404,
      '{"error":{"code":"not_found","message":"Not found (see /api/v1)"}}',
    ])
  })
})

describe('GET /v1/convert with a quote', () => {
  it('repeats the quote to the byte, without an upstream call and without the store', async () => {
    const shop = open()
    const till = openWithoutRates()
    const targets = ['to=EUR', 'to=EUR,JPY', 'to=EUR&amount=12.50', 'to=JPY&round=minor']
    for (const target of targets) {
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
    const { json } = open()
    const { quote, rate } = await json('quote?from=USD&to=KWD')
    const { result } = await json(`convert?quote=${quote}&amount=100`)
    expect(result).toBeCloseTo(100 * rate, 9)
  })

  it.each([
    ['context=cart+2', INVALID_QUOTE],
    ['', INVALID_QUOTE],
    ['context=cart+1&to=JPY', INVALID_QUOTE],
    ['context=cart+1&from=EUR', INVALID_QUOTE],
    [
      'context=cart+1&date=2026-11-19',
      invalid('quote (must not be combined with reverse, date or expand)'),
    ],
    [
      'context=cart+1&reverse=true',
      invalid('quote (must not be combined with reverse, date or expand)'),
    ],
    [
      'context=cart+1&to=EUR&expand=sources',
      invalid('quote (must not be combined with reverse, date or expand)'),
    ],
    ['context=cart+1&format=csv', invalid('quote (not supported in CSV)')],
    ['context=', invalid('context (must be 1 to 256 characters)')],
  ])('refuses %s', async (others, body) => {
    const { ask, json } = open()
    const { quote } = await json('quote?from=USD&to=EUR&context=cart+1')
    const { status, text } = await ask(`convert?quote=${quote}&${others}`)
    expect([status, text]).toEqual([400, body])
  })

  it('refuses other texts', async () => {
    const { ask } = open()
    for (const quote of ['x'.repeat(10_240), 'a.b.c', 'a.b', `${'a'.repeat(400)}.b.c`, '1']) {
      const { status, text } = await ask(`convert?quote=${quote}`)
      expect([status, text], quote).toEqual([400, INVALID_QUOTE])
    }
    const pair = await ask('convert?from=USD&quote=EUR')
    expect([pair.status, pair.text]).toEqual([400, invalid('quote (use to)')])
    const without = await ask('convert?from=USD&to=EUR&context=cart+1')
    expect([without.status, without.text]).toEqual([400, invalid('context (requires quote)')])
  })

  it('is 410 when the quote has expired, by the clock of the service', async () => {
    const { ask, json, runtime } = open({ quotes: { secrets: [SECRET], ttl: '1m' } })
    const { quote } = await json('quote?from=USD&to=EUR')
    await runtime.advance(59_999)
    expect((await ask(`convert?quote=${quote}`)).status).toBe(200)
    await runtime.advance(1)
    const { status, text } = await ask(`convert?quote=${quote}`)
    expect([status, text]).toEqual([
      410,
      '{"error":{"code":"quote_expired","message":"The quote has expired"}}',
    ])
  })

  it('is refused without the option', async () => {
    const { quote } = await open().json('quote?from=USD&to=EUR')
    const { status, text } = await open({}).ask(`convert?quote=${quote}`)
    expect([status, text]).toEqual([400, invalid('quote (this service has no quotes)')])
  })
})

it('the unversioned endpoints ignore the names of quotes', async () => {
  const { text } = open()
  const plain = await text('/api/convert?from=USD&to=EUR')
  expect(await text('/api/convert?from=USD&to=EUR&context=cart')).toBe(plain)
  expect(await text('/api/rates?quote=a.b.c&context=cart')).toBe(await text('/api/rates'))
})

describe('rows with a quote', () => {
  it('are converted at the quoted rate, also for a negative amount', async () => {
    const { json, post, handler } = open()
    const shown = await json('quote?from=USD&to=EUR&amount=10&context=cart+1')
    const { quote } = shown
    const price = { quote, context: 'cart 1' }
    const { status, text } = await post([
      price,
      { ...price, amount: '-2.50', round: 'minor' },
      { from: 'USD', to: 'EUR', amount: 3 },
      { quote },
      { ...price, to: 'JPY' },
      { ...price, foo: 1 },
      { quote: 'EUR', from: 'USD' },
      { quote: 5 },
      { ...price, date: '2026-11-19' },
    ])
    const [first, refund, plain, ...refused] = JSON.parse(text)
    expect(status).toBe(200)
    expect(first).toEqual(shown)
    expect(refund).toMatchObject({ amount: -2.5, rate: shown.rate, jti: shown.jti })
    expect(Number(refund.rounded)).toBeCloseTo(-2.5 * shown.rate, 2)
    expect(plain).toEqual(await handler.rates.convert({ from: 'USD', to: 'EUR', amount: 3 }))
    const errors = refused.map(({ error }: { error: { code: string; message: string } }) => error)
    expect(errors).toMatchObject([
      { code: 'invalid_quote' },
      { code: 'invalid_quote' },
      {
        code: 'invalid_parameter',
        message:
          'Invalid parameter: foo (unknown; /v1/convert takes quote, context, from, to, amount, round)',
      },
      { code: 'invalid_parameter', message: 'Invalid parameter: quote (use to)' },
      { code: 'invalid_quote' },
      { code: 'invalid_parameter' },
    ])
  })

  it.each([
    [50, 1, 200],
    [51, 2, 200],
    [500, 10, 200],
    // Refused before a signature is verified.
    [501, 1, 400],
  ])(
    'cost as much as twenty others each, and are at most 500: %d cost %d',
    async (count, cost, expected) => {
      const { send } = openGuarded({ plans: { public: '10/min' } }, OPTION)
      const rows = Array.from({ length: count }, () => ({ quote: `a.b.${'A'.repeat(43)}` }))
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify(rows)
      const sent = await send({ method: 'POST', target: '/v1/convert', headers, body })
      expect([sent.status, /;r=(\d+)/.exec(sent.header('ratelimit') ?? '')?.[1]]).toEqual([
        expected,
        String(10 - cost),
      ])
      const refused = invalid('rows (must have at most 500 with a quote)')
      expect(sent.status === 400 ? sent.text : refused).toBe(refused)
    },
  )

  it('are errors of their own if a code is the quote, in any number', async () => {
    const { text } = await open().post(
      Array.from({ length: 501 }, () => ({ from: 'USD', quote: 'EUR' })),
    )
    expect(JSON.parse(text)).toEqual(
      Array.from({ length: 501 }, () => JSON.parse(invalid('quote (use to)'))),
    )
  })

  it('are errors in CSV, and without the option', async () => {
    const { json, post, ask } = open()
    const { quote } = await json('quote?from=USD&to=EUR')
    expect((await post([{ quote }], '?format=csv')).text).toContain('quote (not supported in CSV)')
    const pair = { from: 'USD', quote: 'EUR' }
    expect(JSON.parse((await open({}).post([{ quote }, pair])).text)).toEqual([
      JSON.parse(invalid('quote (this service has no quotes)')),
      JSON.parse(invalid('quote (use to)')),
    ])
    const headers = { 'content-type': 'text/csv' }
    const body = `from,to,amount,quote\nUSD,EUR,1,${quote}\n`
    const csv = await ask('convert', { method: 'POST', headers, body })
    expect([csv.status, csv.text]).toEqual([400, invalid('quote (use to)')])
  })
})

describe('the option quotes', () => {
  it.each([
    [{}, 'secrets must be a non-empty array'],
    [{ secrets: ['short secret'] }, 'at least 32 bytes'],
    [{ secrets: [SECRET], ttl: '31d' }, 'ttl must be'],
    [{ secrets: [SECRET], markup: '1' }, 'unknown option "quotes.markup"'],
    ['secret', 'quotes must be an object'],
  ])('%j is an error at creation', (quotes, message) => {
    const create = () => createRatesHandler(Object({ quotes }))
    expect(create).toThrow(TypeError)
    expect(create).toThrow(message)
    expect(create).not.toThrow(/short secret|thirty-two/)
  })

  it('keeps its secrets when the app clears its own before the first quote', async () => {
    const secret = new TextEncoder().encode(SECRET)
    const { handler, runtime, json } = open({ quotes: { secrets: [secret] } })
    secret.fill(0)
    const { quote } = await json('quote?from=USD&to=EUR')
    const quotes = createQuotes({ rates: handler.rates, secrets: [SECRET], now: runtime.now })
    expect(await quotes.convert(quote)).toMatchObject({ quote })
  })

  it('shares its quotes with createQuotes()', async () => {
    const { handler, runtime, json } = open()
    const quotes = createQuotes({ rates: handler.rates, secrets: [SECRET], now: runtime.now })
    const { quote, result } = await quotes.create({
      from: 'USD',
      to: 'EUR',
      reverse: true,
      markup: '2',
    })
    expect(await json(`convert?quote=${quote}`)).toMatchObject({
      result,
      reverse: true,
      markup: '2',
    })
  })
})

describe('the client', () => {
  const clientOf = (options: RatesHandlerOptions) => {
    const { handler } = open(options)
    return createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler })
  }

  it('makes and redeems quotes', async () => {
    const client = clientOf(OPTION)
    const shown = await client.quote({
      from: 'USD',
      to: ['EUR', 'JPY'],
      amount: '9.99',
      context: 'a,b',
    })
    const { quote } = shown
    expect(await client.convert({ quote, context: 'a,b' })).toEqual(shown)
    const one = await client.convert({ quote, context: 'a,b', from: 'USD', to: 'JPY', amount: 5 })
    expect(one).toMatchObject({ to: 'JPY', rate: shown.results.JPY.rate })
    await expect(client.convert({ quote })).rejects.toMatchObject({ code: 'invalid_quote' })
  })

  it('says where a service may have no quotes', async () => {
    const made = clientOf({}).quote({ from: 'USD', to: 'EUR' })
    await expect(made).rejects.toThrow(/ \(the service has no quotes, or baseUrl must end/)
  })
})
