// The handler from source, as a Worker.
import { toWorker } from '../../adapters/cloudflare.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'

export default toWorker(() => createRatesHandler({ providers: fakeProviders() }))
