// npm install ratesmith && npm pkg set type=module
// node custom-provider.ts
//
// Serves your own rates, with the open feed as the fallback.
import { consoleLogger, createExchangeRateApiProvider, createRates } from 'ratesmith'
import type { LatestProvider } from 'ratesmith'

const points: LatestProvider = {
  attribution: { name: 'Loyalty points', url: 'https://points.example' },
  async fetchLatest({ now }) {
    return {
      base: 'PTS',
      updatedAt: now(),
      nextUpdateAt: now() + 86_400_000,
      rates: { EUR: 0.01, USD: 0.0117 },
    }
  },
}

const rates = createRates({
  providers: { latest: [points, createExchangeRateApiProvider()] },
  onEvent: consoleLogger(),
})

console.log(await rates.convert({ from: 'PTS', to: 'EUR', amount: 2_500 }))
