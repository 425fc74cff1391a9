// Serves a handler with a limit by address, as its settings select, and prints the port.
import { createServer } from 'node:http'

import { createRatesHandler } from 'ratesmith'
import type { ProxyOptions } from 'ratesmith'
import { createAccess } from 'ratesmith/access'
import { frankfurter } from 'ratesmith/compat/frankfurter'
import { toNodeHandler } from 'ratesmith/node'
import type { FetchHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { MOUNTS } from '../conformance/mounts.ts'
import type { Mount } from '../conformance/mounts.ts'
import { reportToParent, settingsFromParent } from './child.ts'

/** Settings of this program. */
export interface AddressSettings {
  mount: keyof typeof MOUNTS | keyof typeof OTHERS
  /** Path of the socket of `unixSocket`. */
  path?: string
  quota: number
  options?: ProxyOptions
}

const { mount, path = '', quota, options }: AddressSettings = JSON.parse(settingsFromParent())

const LOOPBACK = { port: 0, hostname: '127.0.0.1' }

interface FetchServer {
  serve(options: object, handler?: FetchHandler): { port?: number; addr?: { port: number } }
}

function runtime(name: 'Bun' | 'Deno'): FetchServer {
  return Reflect.get(globalThis, name)
}

const OTHERS = {
  bunItself: async ({ fetch }) => runtime('Bun').serve({ ...LOOPBACK, fetch }).port ?? 0,
  denoItself: async (rates) =>
    runtime('Deno').serve({ ...LOOPBACK, onListen() {} }, rates).addr?.port ?? 0,
  unixSocket: (rates) =>
    new Promise((resolve) => {
      createServer(toNodeHandler(rates)).listen(path, () => resolve(0))
    }),
} satisfies Record<string, Mount>

const access = createAccess({
  anonymous: 'free',
  // The limit must not refill while the tests run.
  plans: { free: `${quota}/day` },
})
const routes = frankfurter({ basePath: '/api/compat' })
const handler = createRatesHandler({ providers: fakeProviders(), access, routes, ...options })
await handler.refresh()
reportToParent({ port: await { ...MOUNTS, ...OTHERS }[mount](handler) })
