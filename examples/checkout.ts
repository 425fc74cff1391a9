// npm install ratesmith express && npm pkg set type=module
// node checkout.ts
//
// A shop whose customers pay the price that they saw.
import express from 'express'
import { createRates } from 'ratesmith'
import { createQuotes } from 'ratesmith/quotes'
import { fakeProviders } from 'ratesmith/testing'

// By default, quotes are valid in this process only.
const { PORT = '3000', QUOTE_SECRETS = crypto.randomUUID() } = process.env

// Without `providers`, the rates are real.
const rates = createRates({ providers: fakeProviders() })
const quotes = createQuotes({ rates, secrets: QUOTE_SECRETS.split(','), ttl: '10m' })

/** What the shop knows of the cart; nothing of it comes from a request. */
const cart = { from: 'EUR', to: 'USD', amount: '99.90', round: 'minor', context: '4711' } as const
/** In a database, with a unique column `jti`. */
const orders = new Map<string, object>()

const app = express()

app.get('/cart', async (_request, response) => {
  // The page shows `rounded`, and sends `quote` with the order.
  response.json(await quotes.create(cart))
})

app.post('/checkout', express.json(), async ({ body }, response) => {
  // Express responds with the status of an error: 410 for an expired quote.
  const { jti, ...order } = await quotes.convert(body?.quote, cart)
  if (orders.has(jti)) response.sendStatus(409)
  else {
    orders.set(jti, order)
    response.json({ paid: order.rounded })
  }
})

app.listen(Number(PORT), '127.0.0.1')
// http://127.0.0.1:3000/cart
