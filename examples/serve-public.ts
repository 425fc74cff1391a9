// npx ratesmith keys create --plan pro --name acme --keys keys.json
// npx ratesmith serve serve-public.ts
import type { RatesHandlerOptions, ServerOptions } from 'ratesmith'
import { createAccess } from 'ratesmith/access'
import { createFileKeyStore } from 'ratesmith/access/file'
import { createEcbProvider, createFawazahmed0Provider } from 'ratesmith/providers'

const keys = createFileKeyStore(process.env['RATESMITH_KEYS'] ?? 'keys.json')
// Throws without the file, or if it is damaged: then the server does not start.
await keys.list()

const ecb = createEcbProvider()

export default {
  providers: { latest: [createFawazahmed0Provider(), ecb], history: ecb },
  access: createAccess({
    plans: { public: '60/min', pro: '600/min, 100000/month' },
    anonymous: 'public',
    keys,
  }),
  trustedProxies: ['127.0.0.1'],
  forwardedHeader: 'x-forwarded-for',
} satisfies RatesHandlerOptions

export const server: ServerOptions = { metrics: true, accessLog: true }
