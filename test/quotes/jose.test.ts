import { SignJWT, compactVerify, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'

import { createRates } from '../../src/index.ts'
import { createQuotes } from '../../src/quotes/index.ts'
import { NOW, market } from '../fixtures/service.ts'

const SECRET = new TextEncoder().encode('s'.repeat(64))
const HEADER = { alg: 'HS256', typ: 'rate-quote+jwt' }

describe('jose', async () => {
  const now = () => NOW
  const rates = createRates({ providers: market, now })
  const quotes = createQuotes({ rates, secrets: [SECRET], ttl: '10m', now })
  const shown = await quotes.create({
    from: 'USD',
    to: ['EUR', 'JPY'],
    amount: '99.90',
    round: 'minor',
    markup: '1.5',
    context: 'cart 4711',
  })
  const context = 'cart 4711'
  const currentDate = new Date(NOW)
  const read = { currentDate, algorithms: ['HS256'], typ: HEADER.typ }
  const { payload } = await jwtVerify(shown.quote, SECRET, read)
  const redeem = async (quote: string) => quotes.convert(quote, { context })

  it('verifies a quote, and refuses it where and when the handler does', async () => {
    const compact = await compactVerify(shown.quote, SECRET, { algorithms: ['HS256'] })
    expect(compact.protectedHeader).toEqual(HEADER)
    expect(payload).toMatchObject({
      jti: shown.jti,
      iat: NOW / 1_000,
      exp: shown.expiresAt / 1_000,
    })
    const refused = (more: object, secret = SECRET) =>
      jwtVerify(shown.quote, secret, { ...read, ...more })
    await expect(refused({}, SECRET.slice(1))).rejects.toThrow('signature verification failed')
    await expect(refused({ typ: 'JWT' })).rejects.toThrow('"typ"')
    for (const [at, isExpired] of [
      [shown.expiresAt - 1, false],
      [shown.expiresAt, true],
    ] as const) {
      const late = createQuotes({ rates, secrets: [SECRET], now: () => at })
      const [theirs, ours] = await Promise.allSettled([
        refused({ currentDate: new Date(at) }),
        late.convert(shown.quote, { context }),
      ])
      const status = isExpired ? 'rejected' : 'fulfilled'
      expect([theirs.status, ours.status]).toEqual([status, status])
    }
  })

  it('signs quotes that are redeemed, also with more claims and a longer header', async () => {
    const reversed = Object.fromEntries(Object.entries(payload).toReversed())
    for (const [claims, header] of [
      [payload, HEADER],
      [payload, { typ: HEADER.typ, kid: '2026-11', cty: 'rates', alg: 'HS256' }],
      [{ iss: 'shop', sub: 'Zoë', ...reversed, nbf: 1, unknown: [1, { a: null }] }, HEADER],
    ] as const) {
      const quote = await new SignJWT(claims).setProtectedHeader(header).sign(SECRET)
      expect(await redeem(quote)).toEqual({ ...shown, quote })
    }
  })
})
