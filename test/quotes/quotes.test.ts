import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createRates } from '../../src/index.ts'
import type { LatestProvider } from '../../src/index.ts'
import { overlay } from '../../src/providers/index.ts'
import { createQuotes } from '../../src/quotes/index.ts'
import type { NewQuoteParams, QuotesOptions } from '../../src/quotes/index.ts'
import { NOW, market } from '../fixtures/service.ts'
import * as oracle from '../oracle.ts'

const DAY_MS = 86_400_000
const SECRET = 'a secret of at least thirty-two bytes'
const OTHER_SECRET = new Uint8Array(32).fill(7)
const PAIR = { from: 'USD', to: 'EUR' } as const

/** Rates that fail with the first call. */
const NO_RATES: QuotesOptions['rates'] = {
  convert: () => expect.unreachable(),
  snapshot: () => expect.unreachable(),
}

/** Creates rates and quotes on a clock that the test sets. */
function openShop({ latest = market.latest, ttl }: { latest?: LatestProvider; ttl?: string } = {}) {
  const clock = { now: NOW }
  const now = () => clock.now
  const rates = createRates({ providers: { ...market, latest }, now })
  const quotes = createQuotes({ rates, secrets: [SECRET], ttl, now })
  /** Quotes of another process, which has no rates. */
  const elsewhere = createQuotes({ rates: NO_RATES, secrets: [SECRET], now })
  return { clock, rates, quotes, elsewhere }
}

/** Publishes the rate of one currency, at the time of each call. */
function publisher(code: string, rate: () => number): LatestProvider {
  return {
    attribution: { name: 'Market', url: 'https://market.example' },
    fetchLatest: async ({ now }) => ({
      base: 'EUR',
      updatedAt: now(),
      nextUpdateAt: now() + 3_600_000,
      rates: { EUR: 1, [code]: rate() },
    }),
  }
}

const CODES = ['USD', 'EUR', 'JPY', 'GBP', 'CHF', 'AUD', 'HUF', 'ISK', 'INR', 'BRL', 'SEK', 'TRY']

const params: fc.Arbitrary<NewQuoteParams> = fc.record(
  {
    from: fc.constantFrom(...CODES, 'usd'),
    to: fc.oneof(
      fc.constantFrom(...CODES),
      fc.uniqueArray(fc.constantFrom(...CODES), { minLength: 1, maxLength: 4 }),
    ),
    amount: fc.oneof(
      fc.nat({ max: 10_000_000 }).map((cents) => (cents / 100).toFixed(2)),
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.constantFrom(0, -0, '0.1', '.5', '1e3', '12345678901234567.89'),
    ),
    reverse: fc.boolean(),
    round: fc.constantFrom('minor', 'cash'),
    markup: fc.integer({ min: -5_000, max: 5_000 }).map((percent) => String(percent / 100)),
    context: fc.string({ minLength: 1, maxLength: 256 }),
    date: fc.constantFrom('2026-11-19', '2020-02-29', '2001-01-02'),
  },
  { requiredKeys: ['from', 'to'] },
)

const INVALID = {
  code: 'invalid_quote',
  status: 400,
  message: 'Invalid quote (not issued by this service, or for other currencies or another context)',
}

describe('quotes', () => {
  it('charge random prices as they were shown, after refreshes, restarts and with another provider', async () => {
    const latest = overlay(market.latest, {
      rates: { base: 'USD', rates: { EUR: 0.5, AUD: 0.1 } },
      name: 'Treasury of Example Ltd',
      url: 'https://example.com/rates',
    })
    const shops = [openShop({ ttl: '30d' }), openShop({ ttl: '30d', latest })]
    const till = { now: NOW }
    const charge = createQuotes({ rates: NO_RATES, secrets: [SECRET], now: () => till.now })
    const minutes = fc.nat({ max: 600 })
    const property = fc.asyncProperty(
      params,
      fc.nat({ max: 1 }),
      minutes,
      async (asked, at, passed) => {
        const { clock, rates, quotes } = shops[at] ?? openShop()
        // The market has new rates every day.
        if (clock.now < NOW + 25 * DAY_MS) clock.now += passed * 6_000
        const shown = await quotes.create(asked)
        expect(shown.quote.length).toBeLessThanOrEqual(1_024)
        const { quote, jti: _jti, expiresAt, markup, ...conversion } = shown
        const { context, markup: _markup, ...params } = asked
        const now = JSON.stringify(await rates.convert(params))
        expect(markup === undefined ? JSON.stringify(conversion) : now).toBe(now)
        for (const later of [clock.now + 60_000, expiresAt - 1]) {
          till.now = later
          const charged = await charge.convert(quote, { context })
          expect(JSON.stringify(charged)).toBe(JSON.stringify(shown))
        }
      },
    )
    await fc.assert(property, { numRuns: 1_000 })
  })

  it('charge the price that was shown while a refresh moves the rate by 3 %', async () => {
    let rate = 1.08
    const { clock, rates, quotes } = openShop({ latest: publisher('USD', () => rate), ttl: '3h' })
    const price = { from: 'EUR', to: 'USD', amount: '100.00', round: 'minor' } as const
    const shown = await quotes.create({ ...price, context: 'cart 4711' })
    rate = 1.1124
    clock.now += 7_300_000
    await rates.refresh()
    expect((await rates.convert(price)).rounded).toBe('111.24')
    expect((await quotes.create(price)).rounded).toBe('111.24')
    const charged = await quotes.convert(shown.quote, { context: 'cart 4711', to: 'USD' })
    expect(charged).toEqual({ ...shown, rounded: '108.00' })
  })

  it('convert another amount at the quoted rate, to one of the quoted currencies', async () => {
    const { quotes, elsewhere } = openShop()
    const { quote, results } = await quotes.create({ from: 'USD', to: ['EUR', 'JPY'], amount: 2 })
    const { rate } = results.JPY
    const part = { from: 'usd', to: 'jpy', amount: '10.50', round: 'minor' } as const
    const result = oracle.product(10.5, rate)
    const expected = { from: 'USD', to: 'JPY', amount: 10.5, rate, result }
    expect(await elsewhere.convert(quote, part)).toMatchObject(expected)
    const back = await quotes.create({ ...PAIR, amount: 50, reverse: true })
    // In the currency of the quoted amount.
    expect(await elsewhere.convert(back.quote, { amount: 100 })).toMatchObject({
      reverse: true,
      result: expect.closeTo(back.result * 2, 9),
    })
  })

  it.each([
    ['10', 161.22014, 177.342154],
    ['-0.5', 0.85324232, 0.8489761084],
    ['0', 1.1, 1.1],
    ['33.3333333333', 1, 1.333333333],
  ])('have a rate with a markup of %s %%', async (markup, rate, quotedRate) => {
    const { quotes, elsewhere } = openShop({ latest: publisher('XYZ', () => rate) })
    const shown = await quotes.create({ from: 'EUR', to: 'XYZ', amount: 3, markup })
    const result = oracle.product(3, quotedRate)
    expect(shown).toMatchObject({ markup, rate, quotedRate, result })
    expect(await elsewhere.convert(shown.quote)).toEqual(shown)
  })

  it('hold until the second in which they expire, and have an id each', async () => {
    const { clock, quotes } = openShop({ ttl: '90s' })
    clock.now += 250
    const { quote, expiresAt } = await quotes.create(PAIR)
    expect(expiresAt).toBe(NOW + 91_000)
    clock.now = expiresAt - 1
    expect(await quotes.convert(quote)).toMatchObject({ quote, expiresAt })
    clock.now = expiresAt
    const expired = { code: 'quote_expired', status: 410, message: 'The quote has expired' }
    await expect(quotes.convert(quote)).rejects.toMatchObject(expired)
    await expect(quotes.convert(`${quote.slice(0, -1)}_`)).rejects.toMatchObject(INVALID)
    await expect(quotes.convert(quote, { to: 'JPY' })).rejects.toMatchObject(INVALID)
    const made = await Promise.all(Array.from({ length: 50 }, () => quotes.create(PAIR)))
    expect(new Set(made.map(({ jti }) => jti)).size).toBe(50)
  })

  it('are verified by all secrets, signed by the first, and keep those that the app clears', async () => {
    const { rates } = openShop()
    const quotesOf = (...secrets: (string | Uint8Array)[]) =>
      createQuotes({ rates, secrets, now: () => NOW })
    const { quote } = await quotesOf(SECRET).create(PAIR)
    const next = await quotesOf(OTHER_SECRET, SECRET).create(PAIR)
    expect(await quotesOf(OTHER_SECRET, SECRET).convert(quote)).toMatchObject({ quote })
    expect(await quotesOf(OTHER_SECRET).convert(next.quote)).toMatchObject(PAIR)
    await expect(quotesOf(OTHER_SECRET).convert(quote)).rejects.toMatchObject(INVALID)
    await expect(quotesOf(SECRET).convert(next.quote)).rejects.toMatchObject(INVALID)
    const secret = OTHER_SECRET.slice()
    const cleared = quotesOf(secret)
    secret.fill(0)
    expect(await quotesOf(OTHER_SECRET).convert((await cleared.create(PAIR)).quote)).toBeTruthy()
  })
})

const utf8 = new TextEncoder()

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Signs as another program with the same secret could. */
async function sign(header: object, payload: string, secret = SECRET): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['sign'])
  const signed = `${base64url(utf8.encode(JSON.stringify(header)))}.${payload}`
  const signature = await crypto.subtle.sign('HMAC', key, utf8.encode(signed))
  return `${signed}.${base64url(new Uint8Array(signature))}`
}

const HEADER = { alg: 'HS256', typ: 'rate-quote+jwt' }

describe('a quote is refused, with one message,', () => {
  const { quotes } = openShop()
  const context = 'cart 1'
  const made = quotes.create({ from: 'USD', to: ['EUR', 'JPY'], amount: 5, context })
  const convert = async (quote: unknown, params: object = { context }) =>
    quotes.convert(Object(quote) === quote ? Object(quote) : String(quote), params)

  it('if any character of it is changed, removed or added', async () => {
    const { quote } = await made
    expect(await convert(quote)).toMatchObject({ quote })
    for (const [at, before] of quote.split('').entries()) {
      const [head, tail] = [quote.slice(0, at), quote.slice(at + 1)]
      const others = ['A', 'B', '_', '.', '=', ' ', 'é', ''].filter((each) => each !== before)
      for (const other of [...others, `${before}A`]) {
        await expect(convert(head + other + tail), head).rejects.toMatchObject(INVALID)
      }
    }
  })

  it('if it is signed in another way, or for another purpose', async () => {
    const { quote } = await made
    const [head, payload = '', signature] = quote.split('.')
    expect(await convert(await sign(HEADER, payload))).toMatchObject({ quote })
    // Names in another order, and others.
    const longer = { typ: HEADER.typ, kid: '1', alg: 'HS256' }
    expect(await convert(await sign(longer, payload))).toMatchObject({ from: 'USD' })
    const encode = (value: unknown) => base64url(utf8.encode(JSON.stringify(value)))
    const none = encode({ ...HEADER, alg: 'none' })
    const claims = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
    const headers = [
      { ...HEADER, typ: 'JWT' },
      { alg: 'HS256' },
      { ...HEADER, crit: ['b64'], b64: false },
      ...['none', 'RS256', 'HS512', undefined].map((alg) => ({ ...HEADER, alg })),
    ]
    const snapshots = [undefined, { ...claims.snapshot, version: 2 }].map((snapshot) => ({
      snapshot,
    }))
    const others = [{ from: 'CHF' }, { note: 'x'.repeat(700) }, { amount: -1 }, { markup: '99' }]
    const changed = [...snapshots, ...others].map((change) => ({ ...claims, ...change }))
    const payloads = [{}, null, 'x', ...changed].map(encode)
    const signed = [
      ...headers.map((header) => sign(header, payload)),
      ...[...payloads, base64url(Uint8Array.of(0xff)), 'A'].map((each) => sign(HEADER, each)),
      sign(HEADER, payload, OTHER_SECRET.join()),
    ]
    const unsigned = `${none}.${payload}. ${none}.${payload}.${signature} ${head}.${payload}. . ..`
    const joined = [`${quote}.${signature}`, `${quote} ${quote}`, `${quote}${'A'.repeat(10_240)}`]
    const untyped = ['', {}, [quote], () => quote, new String(quote)]
    const tokens = [...(await Promise.all(signed)), ...unsigned.split(' '), ...joined, ...untyped]
    for (const token of tokens) {
      await expect(convert(token)).rejects.toMatchObject(INVALID)
    }
  })

  it.each([
    {},
    { context: 'cart 2' },
    { context: 'cart 1 ' },
    { context, to: 'CHF' },
    { context, to: ['EUR', 'CHF'] },
    { context, from: 'EUR', to: 'USD' },
    { context, from: 'EUR' },
    { context, to: 'USD' },
  ])('for %j', async (params) => {
    await expect(convert((await made).quote, params)).rejects.toMatchObject(INVALID)
  })

  it('with a context if it has none', async () => {
    const { quote } = await quotes.create(PAIR)
    await expect(convert(quote)).rejects.toMatchObject(INVALID)
    expect(await convert(quote, {})).toMatchObject({ quote })
  })
})

const ONE_TO_256 = 'Invalid parameter: context (must be 1 to 256 characters)'

it.each<[change: object, message: string]>([
  ...[1.5, '50.01', '-51', '1e1'].map((markup): [object, string] => [
    { markup },
    'Invalid parameter: markup (must be',
  ]),
  [{ markUp: '1' }, 'Invalid parameter: markUp (use markup)'],
  [{ marup: '1' }, 'Invalid parameter: marup (did you mean markup?)'],
  ...['', 'x'.repeat(257), 4711].map((context): [object, string] => [{ context }, ONE_TO_256]),
  [{ amount: '1,5' }, 'Invalid amount: 1,5'],
  [{ amount: -5 }, 'Invalid amount: -5 (must not be negative)'],
  [{ to: 'XXY' }, 'Invalid to currency: XXY'],
  [{ to: 'DEM' }, 'Invalid to currency: DEM (withdrawn on 1999-01-01, use EUR'],
  [{ from: 'GBp' }, 'Invalid from currency: GBp'],
  [{ to: [...CODES.slice(1), 'NOK'] }, 'Invalid parameter: to (must have at most 10 codes'],
  [{ expand: 'sources' }, 'Invalid parameter: expand'],
  [{ ttl: '1h' }, 'Invalid parameter: ttl'],
  [{ to: undefined }, 'Missing required parameter: to'],
  [{ from: undefined }, 'Missing required parameter: from'],
])('creating a quote fails with %j', async (params, message) => {
  const asked = Object({ ...PAIR, ...params })
  await expect(openShop().quotes.create(asked)).rejects.toThrow(message)
})

it('creating a quote fails where the token would be too long', async () => {
  const url = `https://market.example/${'x'.repeat(600)}`
  const latest = { ...market.latest, attribution: { name: 'Market', url } }
  const error = 'Invalid parameter: to (the quote would have more than 1024 characters)'
  await expect(openShop({ latest }).quotes.create(PAIR)).rejects.toThrow(error)
})

it.each([
  [{ amount: -5 }, 'Invalid amount: -5 (must not be negative)'],
  [{ reverse: true }, 'Invalid parameter: reverse'],
  [{ date: '2026-01-02' }, 'Invalid parameter: date'],
  [{ markup: '1' }, 'Invalid parameter: markup'],
  [{ contxt: 'cart' }, 'Invalid parameter: contxt (did you mean context?)'],
  [{ amount: '1e308' }, 'Invalid amount: 1e308 (the result is too large)'],
])('converting by a quote fails with %j', async (params, message) => {
  const { quotes } = openShop()
  const { quote } = await quotes.create({ from: 'USD', to: 'JPY' })
  await expect(quotes.convert(quote, Object(params))).rejects.toThrow(message)
})

describe('createQuotes()', () => {
  it.each<[options: object, message: string]>([
    [{ secrets: SECRET }, 'secrets must be a non-empty array'],
    [{ secrets: [] }, 'secrets must be a non-empty array'],
    [{ secrets: undefined }, 'secrets must be a non-empty array'],
    [{ secrets: Array.from({ length: 11 }, () => SECRET) }, 'at most 10'],
    [{ secrets: [SECRET, 'short secret'] }, 'at least 32 bytes'],
    [{ secrets: [SECRET, undefined] }, 'at least 32 bytes'],
    [{ secrets: [new Uint8Array(31)] }, 'at least 32 bytes'],
    [{ ttl: 999 }, 'ttl must be ms or a text such as 10m, from 1s to 30d, got 999'],
    ...['31d', '10 minutes', NaN, '0s'].map((ttl): [object, string] => [{ ttl }, `got ${ttl}`]),
    [{ tll: '1h' }, 'unknown option "tll"; did you mean "ttl"?'],
    [{ rates: {} }, 'rates.convert must be a function'],
    [{ rates: undefined }, 'rates.convert must be a function'],
    [{ now: 5 }, 'now must be a function'],
  ])('refuses %j', (options, message) => {
    const create = () => createQuotes(Object({ rates: NO_RATES, secrets: [SECRET], ...options }))
    expect(create).toThrow(TypeError)
    expect(create).toThrow(message)
    expect(create).not.toThrow(/short secret|thirty-two/)
  })

  it.each([
    [undefined, 600_000],
    [1_000, 1_000],
    ['45s', 45_000],
    ['12h', 43_200_000],
    ['30d', 30 * DAY_MS],
  ])('makes quotes that hold for %s', async (ttl, duration) => {
    const { rates } = openShop()
    const quotes = createQuotes({ rates, secrets: [SECRET], ttl, now: () => NOW })
    expect((await quotes.create(PAIR)).expiresAt).toBe(NOW + duration)
  })
})
