// npm install ratesmith fastify && npm pkg set type=module
// node fastify.ts
//
// Serves rates next to the routes of an app: http://127.0.0.1:3000/api/v1/latest
import Fastify from 'fastify'
import { consoleLogger, createRatesHandler } from 'ratesmith'
import { toExpressHandler } from 'ratesmith/express'
import { fakeProviders } from 'ratesmith/testing'

const { PORT = '3000' } = process.env

// Synthetic rates; omit `providers` for real ones.
const handler = createRatesHandler({ providers: fakeProviders(), onEvent: consoleLogger() })
const rates = toExpressHandler(handler)

const app = Fastify()
app.get('/', async () => 'My own page\n')
// Other paths below the base path reach the app.
app.addHook('onRequest', ({ raw }, reply, next) => rates(raw, reply.raw, next))
app.get('/api/users', async () => ['Ada', 'Grace'])
await app.listen({ port: Number(PORT), host: '127.0.0.1' })
