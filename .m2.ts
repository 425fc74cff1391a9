import { createRatesHandler } from './src/index.ts'
import { fakeProviders } from './src/testing/index.ts'
import { parseConversion } from './src/endpoints/parse-conversion.ts'
import { convert } from './src/records/conversion.ts'
import { represent, deliveryHeaders } from './src/http/representation.ts'
import { splitTarget } from './src/http/target.ts'
import { entityTag } from './src/http/etag.ts'
import { createSources } from './src/sources/sources.ts'
import { exactProduct } from './src/rates/rounding.ts'
import { acceptTable } from './src/rates/accept.ts'
import { systemRuntime } from './src/runtime.ts'
const handler = createRatesHandler({ providers: fakeProviders() })
const cold = createRatesHandler({ providers: fakeProviders(), memory: 0 })
const header = () => undefined
const ask = (target: string, method='GET') => handler.answer({ method, target, header })
let sink: unknown
const cpu = () => { const u = process.cpuUsage(); return u.user + u.system }
const only = process.argv[2]
async function time(name: string, n: number, f: (i: number) => unknown) {
  if (only && !name.includes(only)) return
  for (let i = 0; i < n; i++) sink = f(i)
  const rounds: number[] = []
  for (let r = 0; r < 9; r++) { await sink; await 0; const t = cpu(); for (let i = 0; i < n; i++) { sink = f(i); if (i % 500 === 0) await sink } rounds.push((cpu() - t) * 1000 / n) }
  rounds.sort((a, b) => a - b)
  console.log(name.padEnd(34), rounds[0]!.toFixed(0), rounds[4]!.toFixed(0), 'ns')
}
for (const h of [handler, cold]) { await h.refresh() }
const fp = fakeProviders()
const table = acceptTable(await fp.latest.fetchLatest({ now: Date.now, signal: new AbortController().signal, fetch }), Date.now()).data
const snap = { table, attribution: fp.latest.attribution }
const q = (i: number) => 'from=USD&to=EUR&amount=' + i + '.25'
await time('answer convert', 100000, (i) => ask('/api/v1/convert?' + q(i)))
await time('answer latest', 100000, (i) => ask('/api/v1/latest?base=EUR'))
await time('answer history', 100000, (i) => ask('/api/v1/history?from=USD&to=JPY&period=5Y'))
const codes = ['USD','JPY','GBP','CHF','SEK','NOK','PLN','CZK','HUF','EUR']
await time('answer cold 5Y', 1000, (i) => cold.answer({ method: 'GET', header, target: `/api/v1/history?from=${codes[i % 10]}&to=${codes[(i + 1 + (i % 7)) % 10]}&period=5Y` }))
await time('answer cold latest', 1000, (i) => cold.answer({ method: 'GET', header, target: `/api/v1/latest?base=${codes[i % 10]}` }))
await time('answer symbols cold', 10000, (i) => cold.answer({ method: 'GET', header, target: `/api/v1/latest?base=${codes[i % 10]}&symbols=GBP,USD,CHF` }))
const pts = (await handler.rates.history({ from: 'USD', to: 'JPY', period: '5Y' })).points
await time('stringify points', 1000, () => JSON.stringify(pts))
await time('split', 100000, (i) => splitTarget('/api/v1/convert?' + q(i)))
await time('parse', 100000, (i) => parseConversion(q(i)))
const question = { from: 'USD', to: 'GBP', amount: 100.25 }
await time('record', 100000, (i) => convert(table, { ...question, amount: i + 0.25 }))
await time('product', 100000, (i) => exactProduct(i + 0.25, 0.85367936))
const rec = convert(table, question)
await time('stringify', 100000, (i) => JSON.stringify(convert(table, { ...question, amount: i + 0.25 })))
const text = JSON.stringify(rec), dh = deliveryHeaders({ lifetime: 'minute', updatedAt: 1 })
await time('etag', 100000, (i) => entityTag(text))
await time('represent', 100000, (i) => represent(text, dh))
const s = createSources({ latestProviders: [fp.latest], historyProviders: [fp.history], fetch, store: undefined, maxStale: { latest: 1e9, history: 1e9 }, waitUntil: undefined, runtime: systemRuntime(Date.now), emit: () => {} })
await s.latest()
await time('reading', 100000, () => s.latest())
await time('q', 100000, q)
const req = new Request('http://localhost/api/v1/latest?base=EUR')
await time('handler(req)', 20000, () => handler(req))
const a = await ask('/api/v1/latest?base=EUR')
const H = Object.fromEntries(a.headers)
await time('new Response', 20000, () => new Response(a.body, { headers: H }))
