import { createRates } from 'ratesmith'
import { convertAt, createQuotes } from 'ratesmith/quotes'
import { fakeProviders } from 'ratesmith/testing'

import type { Comparison } from './comparison.ts'
import { NOW } from './responses.ts'

/** Compares quotes with the platform's HMAC of the same bytes, and conversions by a snapshot with plain arithmetic. */
export async function quotes(): Promise<Comparison[]> {
  const now = (): number => NOW
  const rates = createRates({ providers: fakeProviders(), now })
  const secret = new Uint8Array(32).fill(1)
  const { create, convert } = createQuotes({ rates, secrets: [secret], now })
  const params = { from: 'USD', to: 'EUR', amount: '99.90' } as const
  const context = 'cart 4711'
  const { quote } = await create({ ...params, context })
  const { subtle } = globalThis.crypto
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await subtle.importKey('raw', secret, algorithm, false, ['sign', 'verify'])
  const signed = Buffer.from(quote.slice(0, quote.lastIndexOf('.')))
  const signature = await subtle.sign('HMAC', key, signed)
  const text = JSON.stringify(await rates.snapshot({ base: 'EUR', symbols: ['USD', 'EUR'] }))
  const sign = () => subtle.sign('HMAC', key, signed)
  const verify = () => subtle.verify('HMAC', key, signature, signed)
  const multiply = () => Number(JSON.parse(text).rates.EUR) * Number(params.amount)
  const measures = 'cpu-time'
  const reference = { name: `HMAC of ${signed.length} bytes`, run: sign }
  return [
    { name: 'quote: `create()`', ours: () => create({ ...params, context }), reference, measures },
    {
      name: 'quote: `convert()`',
      ours: () => convert(quote, { context }),
      reference: { ...reference, run: verify },
      measures,
    },
    {
      name: 'quote: `convertAt()`, from JSON',
      ours: () => convertAt(JSON.parse(text), params),
      reference: { name: '`JSON.parse`, `Number`, `*`', run: multiply },
    },
  ]
}
