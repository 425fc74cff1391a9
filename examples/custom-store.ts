// npm install ratesmith && npm pkg set type=module
// node custom-store.ts
//
// Shares a custom store: two apps need rates at the same time, and only one of them calls the upstream.
import { createRates } from 'ratesmith'
import type { CacheStore } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

const texts = new Map<string, string>()
const claims = new Map<string, number>()

const store: CacheStore = {
  get: (key) => texts.get(key),
  // The third argument, `expiresAt`, is the time from which the store may delete the value.
  set: (key, value) => void texts.set(key, value),
  // Optional. Returns true to one caller: only that app calls the upstream until `expiresAt`.
  claim(key, expiresAt) {
    if ((claims.get(key) ?? 0) > Date.now()) return false
    claims.set(key, expiresAt)
    return true
  },
}

async function convert(name: string): Promise<void> {
  const rates = createRates({
    store,
    providers: fakeProviders(),
    onEvent({ type }) {
      if (type === 'upstream_request') console.log(`${name} calls the upstream`)
    },
  })
  const { rate } = await rates.convert({ from: 'USD', to: 'EUR' })
  console.log(`${name}: 1 USD = ${rate} EUR`)
}

await Promise.all([convert('first'), convert('second')])
