// npm install ratesmith
// node custom-store.ts
//
// A `Map` is a store. Two handlers share it, and only the first has to fetch.
import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

const store = new Map<string, string>()

for (const name of ['first', 'second']) {
  const handler = createRatesHandler({
    store,
    providers: fakeProviders(),
    onEvent({ type }) {
      if (type.startsWith('upstream_')) console.log(name, type)
    },
  })
  const { rate } = await handler.rates.convert({ from: 'USD', to: 'EUR' })
  console.log(name, rate)
}
