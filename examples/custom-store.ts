// npm install ratesmith && npm pkg set type=module
// node custom-store.ts
//
// A store of your own: two handlers ask it at once for what neither has, and only one of them asks upstream.
import { createRatesHandler } from 'ratesmith'
import type { CacheStore } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

const texts = new Map<string, string>()
const claims = new Map<string, number>()

const store: CacheStore = {
  get: (key) => texts.get(key),
  // `expiresAt`, the third argument, is when it may be forgotten.
  set: (key, value) => void texts.set(key, value),
  // May be left out: true for the one that is to ask upstream until then, for all who share the store.
  claim(key, expiresAt) {
    if ((claims.get(key) ?? 0) > Date.now()) return false
    claims.set(key, expiresAt)
    return true
  },
}

async function convert(name: string): Promise<void> {
  const handler = createRatesHandler({
    store,
    providers: fakeProviders(),
    onEvent({ type }) {
      if (type === 'upstream_request') console.log(`${name} asks upstream`)
    },
  })
  const { rate } = await handler.rates.convert({ from: 'USD', to: 'EUR' })
  console.log(`${name}: 1 USD = ${rate} EUR`)
}

await Promise.all([convert('first'), convert('second')])
