import { describe, expect, it } from 'vitest'

import { wholeNumbersFrom } from './fleet.ts'
import { limitIn, openGuarded, recordedStore } from './service.ts'
import type { Sent } from './service.ts'

const QUOTA = 1_000_000

async function openMeter() {
  const { store, keys } = await recordedStore([{ id: 'a', plan: 'all' }])
  const { send } = openGuarded({
    keys: store,
    anonymous: 'refuse',
    plans: { all: `${QUOTA}/month` },
  })
  let used = 0
  return async (sent: Sent): Promise<[status: number, cost: number]> => {
    const headers = { 'x-api-key': keys[0], ...sent.headers }
    const { status, header } = await send({ ...sent, headers })
    const total = QUOTA - limitIn(header('ratelimit'), 'month').r
    const cost = total - used
    used = total
    return [status, cost]
  }
}

const CONVERT = '/v1/convert?from=USD&to='
const HISTORY = '/v1/history?from=USD&period=1M&to='

const CODES = 'EUR GBP JPY CHF SEK NOK DKK PLN CZK HUF RON AUD'.split(' ')

describe('a request costs', () => {
  it.each<[cost: number, status: number, target: string]>([
    [1, 200, '/v1/latest'],
    [1, 200, `/v1/latest?symbols=${CODES.join()}`],
    [1, 200, '/v1/currencies'],
    [10, 200, `${CONVERT}EUR&expand=sources`],
    [10, 200, `${CONVERT}EUR&%65xpand=sources`],
    [1, 200, '/v1/status'],
    [1, 200, '/rates'],
    [1, 200, '/convert?from=USD&to=EUR'],
    [1, 200, `${CONVERT}EUR`],
    [2, 200, `${CONVERT}EUR,GBP`],
    [2, 200, '/v1/convert?to=EUR,GBP&from=USD'],
    [2, 200, `/v1/convert?from=USD&_tox=a,b,c,d&to=EUR,GBP`],
    [2, 200, `${CONVERT}${','.repeat(1_500)}EUR${','.repeat(400)},GBP`],
    [10, 200, `${CONVERT}${CODES.slice(0, 10).join()}`],
    [10, 200, `${CONVERT}${','.repeat(300)}${CODES.join()}`],
    [1, 200, `${HISTORY}EUR`],
    [3, 200, `${HISTORY}EUR,GBP,JPY`],
    [10, 200, `${HISTORY}${CODES.join()}`],
    [1, 200, '/v1/days?start=2026-01-01'],
    [2, 200, '/v1/days?start=2024-06-01&end=2025-12-31&symbols=EUR,GBP,JPY'],
    [10, 200, '/v1/days?start=1999-01-04'],
    [1, 400, '/v1/days?start=1999-01-04&source=nowhere'],
    [1, 400, `${CONVERT}EUR,GBP,x1`],
    [1, 400, `${CONVERT}EUR,GBP&to=JPY`],
    [1, 400, `${CONVERT}EUR%252CGBP`],
    [1, 400, `${CONVERT}${'EUR,'.repeat(600)}`],
    [1, 400, `${CONVERT}%`],
    [1, 400, '/v1/convert?from=USD&to'],
    [1, 400, '/v1/convert?from=USD&TO=EUR,GBP'],
    [1, 400, '/v1/convert?from=USD&to[]=EUR,GBP'],
    [1, 400, `${HISTORY}EUR,GBP,`.replace('period=1M', 'period=1X')],
    [1, 400, `${CONVERT}EUR&${'x'.repeat(9_000)}&amount=x`],
    [0, 200, '/v1/openapi.json'],
  ])('%d: %d for %s', async (cost, status, target) => {
    const meter = await openMeter()
    const [sentStatus, sentCost] = await meter({ target })
    // A response that costs nothing has no fields.
    const shown = Number.isNaN(sentCost) ? 0 : sentCost
    expect([sentStatus, shown]).toEqual([status, cost])
  })

  it.each<[cost: number, status: number, form: string, body: string]>([
    [1, 200, 'json', '[{"from":"USD","to":"EUR"}]'],
    [1, 200, 'json', '[{"from":"USD","to":"EUR"},{"from":"GBP","to":"eur"}]'],
    [3, 200, 'json', '[{"from":"USD","to":["EUR","GBP"]},{"from":"GBP","to":"JPY"}]'],
    [10, 200, 'json', `[{"from":"USD","to":${JSON.stringify(CODES)}}]`],
    [10, 200, 'json', JSON.stringify(CODES.map((to) => ({ from: 'USD', to })))],
    [1, 200, 'json', '[]'],
    [1, 200, 'json', '[{"from":"USD"},{"to":7},null]'],
    [2, 200, 'csv', 'from,to,amount\nUSD,EUR,1\nUSD,GBP,1\n'],
    [1, 200, 'csv', `from,to,amount\n${'USD,EUR,1\n'.repeat(1_000)}`],
    [2, 200, 'csv', `from,to,amount\n${'USD,EUR,1\n'.repeat(1_001)}`],
    [
      2,
      200,
      'json',
      `[${'{"from":"USD","to":["EUR","EUR","EUR"]},'.repeat(333)}{"from":"USD","to":["EUR","EUR"]}]`,
    ],
    [10, 200, 'csv', `from,to,amount\n${'USD,EUR,1\n'.repeat(10_000)}`],
    [3, 200, 'json', '[{"from":"USD","to":"EUR"}]'.padEnd(2 * 102_400 + 1)],
    [1, 400, 'json', '{'],
    [3, 400, 'json', '{'.padEnd(3 * 102_400)],
    [10, 400, 'csv', ','.repeat(1_048_576)],
    [1, 413, 'json', ' '.repeat(1_048_577)],
    [1, 400, 'json', ''],
    [1, 415, 'xml', '<a/>'],
  ])('%d: %d for a POST of %s %.60s', async (cost, status, form, body) => {
    const meter = await openMeter()
    const type = form === 'csv' ? 'text/csv' : `application/${form}`
    const headers = { 'content-type': type }
    const target = '/v1/convert'
    expect(await meter({ method: 'POST', target, headers, body })).toEqual([status, cost])
  })

  it('as much in every spelling of a list', async () => {
    const random = wholeNumbersFrom(11)
    const meter = await openMeter()
    const seen = new Set<number>()
    for (let round = 0; round < 400; round += 1) {
      const codes = Array.from({ length: 2 + random(13) }, () => CODES[random(CODES.length)] ?? '')
      const list = codes.map((code) => spell(code, random)).join(pickComma(random))
      const target = `/v1/convert?from=USD&${random(4) === 0 ? 't%6f' : 'to'}=${list}`
      const [status, cost] = await meter({ target })
      expect([target, status, cost]).toEqual([target, 200, Math.min(10, new Set(codes).size)])
      seen.add(cost)
    }
    expect(seen.size).toBeGreaterThan(8)
  })
})

type Random = (limit: number) => number

/** Spells a code in another way that is read the same. */
function spell(code: string, random: Random): string {
  const cased = Array.from(code, (letter) =>
    random(3) === 0 ? letter.toLowerCase() : letter,
  ).join('')
  // Two capitals and a small letter are how market data write hundredths.
  const spelled = /^[A-Z]{2}[a-z]$/.test(cased) ? code : cased
  const letters = Array.from(spelled, (letter) =>
    random(5) === 0 ? `%${letter.charCodeAt(0).toString(16)}` : letter,
  )
  const padding = ['', '', '', '+', '%20', '%20+'][random(6)] ?? ''
  return padding + letters.join('') + padding
}

function pickComma(random: Random): string {
  return [',', '%2C', '%2c', ',,', ',+,'][random(5)] ?? ','
}
