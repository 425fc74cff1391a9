// npm install ratesmith && npm pkg set type=module
// node access.ts
//
// Serves rates with API keys and limits: prints the responses to a client without a key, one with a key, and one with a wrong
// key.
import { createRatesHandler } from 'ratesmith'
import { createAccess, createKey } from 'ratesmith/access'
import type { KeyRecord } from 'ratesmith/access'
import { fakeProviders } from 'ratesmith/testing'

const { key, hash } = await createKey()
const records = new Map<string, KeyRecord>([[hash, { id: 'acme', plan: 'pro' }]])

const handler = createRatesHandler({
  providers: fakeProviders(),
  access: createAccess({
    plans: { public: '2/min', pro: '600/min, 100000/month' },
    anonymous: 'public',
    keys: { find: (wanted) => records.get(wanted) },
  }),
})

async function print(client: string, headers: Record<string, string> = {}): Promise<void> {
  const url = 'http://localhost/api/v1/convert?from=USD&to=EUR'
  const response = await handler(new Request(url, { headers }))
  const limits = response.headers.get('ratelimit') ?? 'no fields'
  console.log(`${client}: ${response.status}, ${limits}`)
}

await print('without a key')
await print('without a key')
await print('without a key')
await print('with a key', { authorization: `Bearer ${key}` })
await print('with a wrong key', { 'x-api-key': `${key}x` })
