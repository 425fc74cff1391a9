import { describe, expect, it } from 'vitest'

import { rowsOf } from '../fixtures/rows.ts'
import { operationAt } from './document.ts'
import { differences, request } from './live.ts'

/** Changes of responses that the document does not allow, by target: a field and its value as JSON, nothing for none. */
const DEFECTS = `
  /v1/convert?from=USD&to=EUR fee 0 | /v1/convert?from=USD&to=EUR rate | /v1/convert?from=USD&to=EUR rate "0.85"
  /v1/convert?from=USD&to=EUR rate 0 | /v1/convert?from=USD&to=EUR from "usd" | /v1/convert?from=USD&to=EUR updatedAt 1.5
  /v1/convert?from=USD&to=EUR source "ECB" | /v1/convert?from=USD&to=EUR source {"name":"a","url":"https://a.example","key":1}
  /v1/convert?from=USD&to=EUR source {"name":"a","url":"nowhere"} | /v1/convert?from=USD&to=EUR reverse false
  /v1/convert?from=USD&to=EUR date 1795186800000 | /v1/convert?from=USD&to=EUR,GBP to "EUR"
  /v1/convert?from=USD&to=EUR, results | /v1/convert?from=USD&to=EUR, results {"EUR":{"result":1}}
  /v1/convert?from=USD&to=EUR, results {"eur":{"rate":1,"result":1}}
  /v1/quote?from=USD&to=EUR quote | /v1/quote?from=USD&to=EUR jti | /v1/quote?from=USD&to=EUR expiresAt "2026-11-20"
  /v1/quote?from=USD&to=EUR quotedRate 0 | /v1/quote?from=USD&to=EUR markup 1.5
  /v1/latest?date=2020-02-29 date "2020-02-30"
  /v1/history?from=USD&to=EUR&start=2008-09-01&interval=week interval "decade"
  /v1/history?from=USD&to=EUR&start=2008-09-01&interval=week value "median"
  /v1/history?from=USD&to=EUR&start=2008-09-01&interval=week points [{"d":"2008-09-05","r":1,"filled":false}]
  /v1/history?from=USD&to=EUR&start=2008-09-01&interval=week points []
  /v1/days?start=2026-11-20&symbols=USD source | /v1/days?start=2026-11-20&symbols=USD prices {"KWD":0}
  /v1/history?from=USD&to=EUR,GBP series | /v1/history?from=USD&to=EUR,GBP series {"eur":{}}
  /v1/history?from=USD&to=EUR,GBP series {"EUR":{"from":"USD","to":"EUR","period":"1M"}}
  /v1/history?from=USD&to=EUR,GBP points [{"d":"2026-11-20","r":1}]`

describe('the document', () => {
  it.each(rowsOf(DEFECTS))(
    'does not allow in %s %s of %s',
    async (target = '', name = '', json) => {
      const [path = '', search = ''] = target.split(/(?=\?)/)
      const operation = operationAt(path)
      // The unchanged response has no differences.
      const received = await request(operation, search)
      const value: unknown = json === undefined ? undefined : JSON.parse(json)
      const body = `${JSON.stringify({ ...JSON.parse(received.body), [name]: value })}\n`
      expect(differences(operation, { ...received, body }).join()).toMatch(/^the body: /)
    },
  )
})
