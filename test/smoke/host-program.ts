// Serves the handler from source with the adapter in its settings, and prints the URL.
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { reportToParent, settingsFromParent } from '../system/child.ts'

const { serve }: typeof import('../../adapters/node.ts') = await import(
  `../../adapters/${JSON.parse(settingsFromParent())}.ts`
)
const server = await serve(createRatesHandler({ providers: fakeProviders() }), { port: 0 })
reportToParent(server.url)
