import * as z from 'zod/mini'
import { currency, amount, failures } from './src/endpoints/parameters.ts'
import { createQueryParser } from './src/http/query.ts'
import { entityTag } from './src/http/etag.ts'
let sink: unknown
const cpu = () => { const u = process.cpuUsage(); return u.user + u.system }
async function time(name: string, n: number, f: (i: number) => unknown) {
  for (let i = 0; i < n; i++) sink = f(i)
  const rounds: number[] = []
  for (let r = 0; r < 9; r++) { const t = cpu(); for (let i = 0; i < n; i++) sink = f(i); rounds.push((cpu() - t) * 1000 / n) }
  rounds.sort((a, b) => a - b)
  console.log(name.padEnd(34), rounds[0]!.toFixed(0), rounds[4]!.toFixed(0), 'ns')
}
const N = 100000
const q = (i: number) => 'from=USD&to=EUR&amount=' + i + '.25'
const schema = z.object({ from: currency, to: currency, amount })
const pq = createQueryParser({ parameters: {}, failures, toQuestion: () => 1 })
const pf = createQueryParser({ parameters: { from: currency, to: currency, amount }, failures, toQuestion: (x) => x })
await time('parse of nothing known', N, (i) => pq(q(i)))
await time('parse', N, (i) => pf(q(i)))
await time('zod', N, (i) => schema.safeParse({ from: 'USD', to: 'EUR', amount: i + '.25' }, { reportInput: true }))
await time('zod fixed amount', N, (i) => schema.safeParse({ from: 'USD', to: 'EUR', amount: '5.25' }, { reportInput: true }))
await time('split', N, (i) => q(i).split('&'))
await time('tag', N, (i) => entityTag('{"from":"USD","to":"EUR","amount":100.25,"rate":0.85367936,"result":85.367936,"updatedAt":1795186800000,"source":{"name":"Synthetic rates (ratesmith)","url":"https://www.npmjs.com/package/ratesmith"}}'))
const cut = (query: string) => { let at = 0; const v: Record<string,string> = {}; while (at < query.length) { let end = query.indexOf('&', at); if (end < 0) end = query.length; const eq = query.indexOf('=', at); const n = query.slice(at, eq); v[n] = query.slice(eq + 1, end); at = end + 1 } return v }
await time('cut', N, (i) => cut(q(i)))
await time('cut+zod', N, (i) => schema.safeParse(cut(q(i)), { reportInput: true }))
