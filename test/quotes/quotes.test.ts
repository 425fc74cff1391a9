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

describe('quotes', () => {
  it('charge 10,000 random prices as they were shown, after refreshes, restarts and with another provider', async () => {
    const shops = [
      openShop({ ttl: '30d' }),
      openShop({
        ttl: '30d',
        latest: overlay(market.latest, {
          rates: { base: 'USD', rates: { EUR: 0.5, AUD: 0.1 } },
          name: 'Treasury of Example Ltd',
          url: 'https://example.com/rates',
        }),
      }),
    ]
    const till = { now: NOW }
    const charge = createQuotes({ rates: NO_RATES, secrets: [SECRET], now: () => till.now })
    const property = fc.asyncProperty(
      params,
      fc.nat({ max: 1 }),
      fc.nat({ max: 600 }),
      async (asked, index, minutes) => {
        const { clock, rates, quotes } = shops[index] ?? openShop()
        // The market has new rates every day.
        if (clock.now < NOW + 25 * DAY_MS) clock.now += minutes * 600
        const shown = await quotes.create(asked)
        expect(shown.quote.length).toBeLessThanOrEqual(1_024)
        const { quote, jti: _jti, expiresAt, markup, ...conversion } = shown
        const { context, markup: _markup, ...params } = asked
        const now = JSON.stringify(await rates.convert(params))
        const isPlain = markup === undefined
        expect(isPlain ? JSON.stringify(conversion) : now).toBe(now)
        for (const at of [clock.now + 60_000, expiresAt - 1]) {
          till.now = at
          expect(JSON.stringify(await charge.convert(quote, { context }))).toBe(
            JSON.stringify(shown),
          )
        }
      },
    )
    await fc.assert(property, { numRuns: 10_000 })
  })

  it('charge the price that was shown while a refresh moves the rate by 3 %', async () => {
    let rate = 1.08
    const latest: LatestProvider = {
      attribution: { name: 'Market', url: 'https://market.example' },
      fetchLatest: async ({ now }) => ({
        base: 'EUR',
        updatedAt: now(),
        nextUpdateAt: now() + 3_600_000,
        rates: { EUR: 1, USD: rate },
      }),
    }
    const { clock, rates, quotes } = openShop({ latest, ttl: '3h' })
    const price = { from: 'EUR', to: 'USD', amount: '100.00', round: 'minor' } as const
    const shown = await quotes.create({ ...price, context: 'cart 4711' })
    rate = 1.1124
    clock.now += 7_300_000
    await rates.refresh()
    expect((await rates.convert(price)).rounded).toBe('111.24')
    expect((await quotes.create(price)).rounded).toBe('111.24')
    const charged = await quotes.convert(shown.quote, { context: 'cart 4711', to: 'USD' })
    expect(charged).toEqual(shown)
    expect(charged.rounded).toBe('108.00')
  })

  it('convert another amount at the quoted rate, to one of the quoted currencies', async () => {
    const { quotes, elsewhere } = openShop()
    const { quote, results } = await quotes.create({ from: 'USD', to: ['EUR', 'JPY'], amount: 2 })
    const { rate } = results.JPY
    const part = { from: 'usd', to: 'jpy', amount: '10.50', round: 'minor' } as const
    expect(await elsewhere.convert(quote, part)).toMatchObject({
      from: 'USD',
      to: 'JPY',
      amount: 10.5,
      rate,
      result: oracle.product(10.5, rate),
    })
    const back = await quotes.create({ from: 'USD', to: 'EUR', amount: 50, reverse: true })
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
    const latest: LatestProvider = {
      ...market.latest,
      fetchLatest: async () => ({
        base: 'USD',
        updatedAt: NOW - 1,
        nextUpdateAt: NOW + DAY_MS,
        rates: { USD: 1, XYZ: rate },
      }),
    }
    const { quotes, elsewhere } = openShop({ latest })
    const shown = await quotes.create({ from: 'USD', to: 'XYZ', amount: 3, markup })
    const result = oracle.product(3, quotedRate)
    expect(shown).toMatchObject({ markup, rate, quotedRate, result })
    expect(await elsewhere.convert(shown.quote)).toEqual(shown)
  })

  it('hold until the second in which they expire', async () => {
    const { clock, quotes } = openShop({ ttl: '90s' })
    clock.now += 250
    const { quote, expiresAt } = await quotes.create({ from: 'USD', to: 'EUR' })
    expect(expiresAt).toBe(NOW + 91_000)
    clock.now = expiresAt - 1
    expect(await quotes.convert(quote)).toMatchObject({ quote, expiresAt })
    clock.now = expiresAt
    const expired = { code: 'quote_expired', status: 410, message: 'The quote has expired' }
    await expect(quotes.convert(quote)).rejects.toMatchObject(expired)
    await expect(quotes.convert(`${quote.slice(0, -1)}_`)).rejects.toMatchObject(INVALID)
    await expect(quotes.convert(quote, { to: 'JPY' })).rejects.toMatchObject(INVALID)
  })

  it('are verified by all secrets, and signed by the first', async () => {
    const { rates } = openShop()
    const now = () => NOW
    const quotesOf = (...secrets: (string | Uint8Array)[]) => createQuotes({ rates, secrets, now })
    const { quote } = await quotesOf(SECRET).create({ from: 'USD', to: 'EUR' })
    const next = await quotesOf(OTHER_SECRET, SECRET).create({ from: 'USD', to: 'EUR' })
    expect(await quotesOf(OTHER_SECRET, SECRET).convert(quote)).toMatchObject({ quote })
    expect(await quotesOf(OTHER_SECRET).convert(next.quote)).toMatchObject({ from: 'USD' })
    await expect(quotesOf(OTHER_SECRET).convert(quote)).rejects.toMatchObject(INVALID)
    await expect(quotesOf(SECRET).convert(next.quote)).rejects.toMatchObject(INVALID)
  })

  it('keep their secrets when the app clears its own', async () => {
    const { rates } = openShop()
    const secret = OTHER_SECRET.slice()
    const quotes = createQuotes({ rates, secrets: [secret], now: () => NOW })
    secret.fill(0)
    const { quote } = await quotes.create({ from: 'USD', to: 'EUR' })
    const verifier = createQuotes({ rates, secrets: [OTHER_SECRET], now: () => NOW })
    expect(await verifier.convert(quote)).toMatchObject({ quote })
  })

  it('have an id each', async () => {
    const { quotes } = openShop()
    const made = await Promise.all(
      Array.from({ length: 50 }, () => quotes.create({ from: 'USD', to: 'EUR' })),
    )
    expect(new Set(made.map(({ jti }) => jti)).size).toBe(50)
  })
})

const INVALID = {
  code: 'invalid_quote',
  status: 400,
  message: 'Invalid quote (not issued by this service, or for other currencies or another context)',
}

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
  return `${signed}.${base64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, utf8.encode(signed))))}`
}

const HEADER = { alg: 'HS256', typ: 'rate-quote+jwt' }

describe('a quote is refused, with one message,', () => {
  const { quotes } = openShop()
  const made = quotes.create({ from: 'USD', to: ['EUR', 'JPY'], amount: 5, context: 'cart 1' })
  const context = 'cart 1'
  const convert = async (quote: unknown, params: object = { context }) =>
    quotes.convert(Object(quote) === quote ? Object(quote) : String(quote), params)
  const payloadOf = (quote: string): string => quote.split('.')[1] ?? ''

  it('if any character of it is changed, removed or added', async () => {
    const { quote } = await made
    expect(await convert(quote)).toMatchObject({ quote })
    for (const [at, before] of quote.split('').entries()) {
      const [head, tail] = [quote.slice(0, at), quote.slice(at + 1)]
      const others = ['A', 'B', 'w', '_', '-', '.', '=', '+', ' ', 'é', ''].filter(
        (each) => each !== before,
      )
      for (const other of [...others, `${before}A`]) {
        await expect(convert(head + other + tail), head).rejects.toMatchObject(INVALID)
      }
    }
  })

  it('if it is signed in another way, or for another purpose', async () => {
    const { quote } = await made
    const payload = payloadOf(quote)
    expect(await convert(await sign(HEADER, payload))).toMatchObject({ quote })
    // Names in another order, and others.
    expect(
      await convert(await sign({ typ: HEADER.typ, kid: '1', alg: 'HS256' }, payload)),
    ).toMatchObject({ from: 'USD' })
    const [head, , signature] = quote.split('.')
    const none = base64url(utf8.encode('{"alg":"none","typ":"rate-quote+jwt"}'))
    const claims: unknown = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
    const withClaims = async (change: object) =>
      sign(HEADER, base64url(utf8.encode(JSON.stringify({ ...Object(claims), ...change }))))
    const tokens = [
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${head}.${payload}.`,
      await sign({ ...HEADER, alg: 'none' }, payload),
      await sign({ ...HEADER, alg: 'RS256' }, payload),
      await sign({ ...HEADER, alg: 'HS512' }, payload),
      await sign({ ...HEADER, alg: undefined }, payload),
      await sign({ ...HEADER, typ: 'JWT' }, payload),
      await sign({ alg: 'HS256' }, payload),
      await sign({ ...HEADER, crit: ['b64'], b64: false }, payload),
      await sign(HEADER, payload, OTHER_SECRET.join()),
      await sign(HEADER, base64url(utf8.encode('{}'))),
      await sign(HEADER, base64url(utf8.encode('null'))),
      await sign(HEADER, base64url(utf8.encode('"x"'))),
      await sign(HEADER, base64url(Uint8Array.of(0xff))),
      await sign(HEADER, 'A'),
      await withClaims({ snapshot: undefined }),
      await withClaims({ snapshot: { ...Object(claims).snapshot, version: 2 } }),
      await withClaims({ note: 'x'.repeat(700) }),
      await withClaims({ from: 'CHF' }),
      await withClaims({ amount: -1 }),
      await withClaims({ markup: '99' }),
      `${quote}.${signature}`,
      `${quote} ${quote}`,
      JSON.stringify({
        payload,
        signatures: [
          { protected: head, signature },
          { protected: head, signature },
        ],
      }),
      'x'.repeat(10_240),
      `${quote}${'A'.repeat(10_240)}`,
      '',
      '.',
      '..',
    ]
    for (const token of tokens) await expect(convert(token), token).rejects.toMatchObject(INVALID)
    for (const token of [{}, [quote], () => quote, new String(quote)]) {
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
    const { quote } = await quotes.create({ from: 'USD', to: 'EUR' })
    await expect(convert(quote)).rejects.toMatchObject(INVALID)
    expect(await convert(quote, {})).toMatchObject({ quote })
  })
})

describe('creating a quote', () => {
  it.each([
    [{ from: 'USD', to: 'EUR', markup: 1.5 }, 'Invalid parameter: markup'],
    [{ from: 'USD', to: 'EUR', markup: '50.01' }, 'Invalid parameter: markup'],
    [{ from: 'USD', to: 'EUR', markup: '-51' }, 'Invalid parameter: markup'],
    [{ from: 'USD', to: 'EUR', markup: '1e1' }, 'Invalid parameter: markup'],
    [{ from: 'USD', to: 'EUR', markUp: '1' }, 'Invalid parameter: markUp (use markup)'],
    [{ from: 'USD', to: 'EUR', marup: '1' }, 'Invalid parameter: marup (did you mean markup?)'],
    [
      { from: 'USD', to: 'EUR', context: '' },
      'Invalid parameter: context (must be 1 to 256 characters)',
    ],
    [{ from: 'USD', to: 'EUR', context: 'x'.repeat(257) }, 'Invalid parameter: context'],
    [{ from: 'USD', to: 'EUR', context: 4711 }, 'Invalid parameter: context'],
    [{ from: 'USD', to: 'EUR', amount: '1,5' }, 'Invalid amount: 1,5'],
    [{ from: 'USD', to: 'EUR', amount: -5 }, 'Invalid amount: -5 (must not be negative)'],
    [{ from: 'USD', to: 'XXY' }, 'Invalid to currency: XXY'],
    [{ from: 'USD', to: 'DEM' }, 'Invalid to currency: DEM (withdrawn on 1999-01-01, use EUR'],
    [{ from: 'GBp', to: 'EUR' }, 'Invalid from currency: GBp'],
    [
      { from: 'USD', to: [...CODES.slice(1), 'NOK'] },
      'Invalid parameter: to (must have at most 10 codes',
    ],
    [{ from: 'USD', to: 'EUR', expand: 'sources' }, 'Invalid parameter: expand'],
    [{ from: 'USD', to: 'EUR', ttl: '1h' }, 'Invalid parameter: ttl'],
    [{ from: 'USD' }, 'Missing required parameter: to'],
    [undefined, 'Missing required parameter: from'],
  ])('fails with %j', async (params, message) => {
    await expect(openShop().quotes.create(Object(params))).rejects.toThrow(message)
  })

  it('fails where the token would be too long', async () => {
    const url = `https://market.example/${'x'.repeat(600)}`
    const { quotes } = openShop({
      latest: { ...market.latest, attribution: { name: 'Market', url } },
    })
    const error = 'Invalid parameter: to (the quote would have more than 1024 characters)'
    await expect(quotes.create({ from: 'USD', to: 'EUR' })).rejects.toThrow(error)
  })
})

describe('converting by a quote', () => {
  it.each([
    [{ amount: -5 }, 'Invalid amount: -5 (must not be negative)'],
    [{ reverse: true }, 'Invalid parameter: reverse'],
    [{ date: '2026-01-02' }, 'Invalid parameter: date'],
    [{ markup: '1' }, 'Invalid parameter: markup'],
    [{ contxt: 'cart' }, 'Invalid parameter: contxt (did you mean context?)'],
    [{ amount: '1e308' }, 'Invalid amount: 1e308 (the result is too large)'],
  ])('fails with %j', async (params, message) => {
    const { quotes } = openShop()
    const { quote } = await quotes.create({ from: 'USD', to: 'JPY' })
    await expect(quotes.convert(quote, Object(params))).rejects.toThrow(message)
  })
})

describe('createQuotes()', () => {
  const rates = NO_RATES
  const secrets = [SECRET]

  it.each([
    [{ rates, secrets: SECRET }, 'secrets must be a non-empty array'],
    [{ rates, secrets: [] }, 'secrets must be a non-empty array'],
    [{ rates, secrets: Array.from({ length: 11 }, () => SECRET) }, 'at most 10'],
    [{ rates, secrets: [SECRET, 'short secret'] }, 'at least 32 bytes'],
    [{ rates, secrets: [SECRET, undefined] }, 'at least 32 bytes'],
    [{ rates, secrets: [new Uint8Array(31)] }, 'at least 32 bytes'],
    [{ rates }, 'secrets must be a non-empty array'],
    [{ rates, secrets, ttl: 999 }, 'ttl must be ms or a text such as 10m, from 1s to 30d, got 999'],
    [{ rates, secrets, ttl: '31d' }, 'got 31d'],
    [{ rates, secrets, ttl: '10 minutes' }, 'got 10 minutes'],
    [{ rates, secrets, ttl: NaN }, 'got NaN'],
    [{ rates, secrets, ttl: '0s' }, 'got 0s'],
    [{ rates, secrets, tll: '1h' }, 'unknown option "tll"; did you mean "ttl"?'],
    [{ rates: {}, secrets }, 'rates.convert must be a function'],
    [{ secrets }, 'rates.convert must be a function'],
    [{ rates, secrets, now: 5 }, 'now must be a function'],
  ])('refuses %j', (options, message) => {
    const create = () => createQuotes(Object(options))
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
    const quotes = createQuotes({ rates, secrets, ttl, now: () => NOW })
    const { expiresAt } = await quotes.create({ from: 'USD', to: 'EUR' })
    expect(expiresAt).toBe(NOW + duration)
  })
})
