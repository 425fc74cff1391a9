// A Worker with a limit by address: `/api/…` over `toWorker`, `/global/api/…` as a fetch-style handler.
import { createRatesHandler } from 'ratesmith'
import { createAccess } from 'ratesmith/access'
import { toWorker } from 'ratesmith/cloudflare'
import { fakeProviders } from 'ratesmith/testing'

function createLimited(basePath: string) {
  const access = createAccess({ anonymous: 'free', plans: { free: '5/day' } })
  return createRatesHandler({ basePath, providers: fakeProviders(), access })
}

const worker = toWorker(() => createLimited('/api'))
const { fetch: fetchGlobal } = createLimited('/global/api')

export default {
  ...worker,
  fetch(...given: Parameters<typeof worker.fetch>) {
    const [request] = given
    // Hosts pass the bindings as the second argument.
    const isGlobal = new URL(request.url).pathname.startsWith('/global/')
    return isGlobal ? Reflect.apply(fetchGlobal, undefined, given) : worker.fetch(...given)
  },
}
