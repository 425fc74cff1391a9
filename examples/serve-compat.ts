// npx ratesmith serve serve-compat.ts
import type { RatesHandlerOptions, Route } from 'ratesmith'
import { fixer } from 'ratesmith/compat/fixer'
import { frankfurter } from 'ratesmith/compat/frankfurter'
import { openExchangeRates } from 'ratesmith/compat/open-exchange-rates'

/** A path of your own: `/price/EUR`. */
const price: Route = {
  path: '/price/:to',
  async get({ params: { to = '' } }, rates) {
    const amount = '9.99'
    const { rounded } = await rates.convert({ from: 'USD', to, amount, round: 'minor' })
    return { price: rounded }
  },
}

export default {
  routes: [frankfurter({ unprefixed: false }), fixer(), openExchangeRates(), price],
} satisfies RatesHandlerOptions
