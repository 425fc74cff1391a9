// npm install ratesmith fastify
// node fastify.ts
//
// Rates beside the routes of an app: http://127.0.0.1:3000/api/v1/latest
import Fastify from 'fastify'
import { createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

const { PORT = '3000' } = process.env

// Without `providers` the rates are real.
const rates = toNodeHandler(createRatesHandler({ providers: fakeProviders() }))

const app = Fastify()
app.get('/', async () => 'My own page\n')
app.get('/api/users', async () => ['Ada', 'Grace'])
app.all('/api/*', (request, reply) => {
  // From here on the answer is the handler's, not Fastify's.
  reply.hijack()
  rates(request.raw, reply.raw)
})
await app.listen({ port: Number(PORT), host: '127.0.0.1' })
