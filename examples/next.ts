// npm install ratesmith
//
// A route handler of Next.js: save it as `app/api/[...path]/route.ts`.
import { consoleLogger, createRatesHandler } from 'ratesmith'
import { toNextHandler } from 'ratesmith/next'
import { fakeProviders } from 'ratesmith/testing'

// Without `providers`, the rates are real.
const handler = createRatesHandler({ providers: fakeProviders(), onEvent: consoleLogger() })

export const dynamic = 'force-dynamic'
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = toNextHandler(handler)
