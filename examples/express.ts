// npm install ratesmith express && npm pkg set type=module
// node express.ts
//
// Serves rates next to the routes of an app: http://127.0.0.1:3000/api/v1/latest
import express from 'express'
import { consoleLogger, createRatesHandler } from 'ratesmith'
import { toExpressHandler } from 'ratesmith/express'
import { fakeProviders } from 'ratesmith/testing'

const { PORT = '3000' } = process.env

// Synthetic rates; omit `providers` for real ones.
const handler = createRatesHandler({ providers: fakeProviders(), onEvent: consoleLogger() })

const app = express()
app.get('/', (_request, response) => void response.send('My own page\n'))
app.use(toExpressHandler(handler))
// Other paths below the base path reach the app.
app.get('/api/users', (_request, response) => void response.json(['Ada', 'Grace']))
app.listen(Number(PORT), '127.0.0.1')
