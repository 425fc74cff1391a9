// One file for Bun (`bun examples/fetch.ts`), Deno (`deno serve -A examples/fetch.ts`) and Cloudflare Workers.
import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

const handler = createRatesHandler({ providers: fakeProviders() })

export default { fetch: handler.fetch }
