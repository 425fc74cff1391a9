// One file for Bun (`bun examples/fetch.ts`) and Deno (`deno serve -A examples/fetch.ts`).
import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

const handler = createRatesHandler({ providers: fakeProviders() })

export default { fetch: handler.fetch }
