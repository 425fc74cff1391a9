import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { fixer } from '../../src/compat/fixer.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { createRatesHandler } from '../../src/index.ts'
import { expand } from '../catalogue/catalogue.ts'
import { createBank } from '../fixtures/bank.ts'
import { NOW, openMarket } from '../fixtures/hand-written-market.ts'

const MOUNTS = { frankfurter, fixer, openExchangeRates }

/** A response of a service over the hand-written market; `<string>` is any text. */
interface ServiceResponse {
  service: keyof typeof MOUNTS
  path: string
  status: number
  body: unknown
}

const RESPONSES = readFileSync(new URL('responses.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): ServiceResponse =>
    JSON.parse(line, (_, value) => (value === '<string>' ? expect.any(String) : value)),
  )

async function ask(mount: typeof fixer, path: string) {
  const handler = openMarket({ routes: mount() }).handler
  const response = await handler(new Request(`http://localhost${expand(path)}`))
  return { status: response.status, body: await response.json() }
}

describe('a compat route', () => {
  it.each(RESPONSES)('of $service has for $path the status $status', async (row) => {
    const { service, path, status, body } = row
    expect(await ask(MOUNTS[service], path)).toEqual({ status, body })
  })

  it('of Frankfurter serves only paths below /v1 with unprefixed: false', async () => {
    const mount = () => frankfurter({ unprefixed: false })
    expect((await ask(mount, '/v1/latest')).status).toBe(200)
    expect(await ask(mount, '/latest')).toMatchObject({ body: { error: { code: 'not_found' } } })
  })

  it.each<[ServiceResponse['service'], string]>([
    ['frankfurter', '/v1/2026-11-13..2026-11-20'],
    ['fixer', '/timeframe?source=EUR&start_date=2026-11-13&end_date=2026-11-20'],
    ['fixer', '/change?source=EUR&start_date=2026-11-13&end_date=2026-11-20'],
    ['openExchangeRates', '/api/time-series.json?start=2026-11-13&end=2026-11-20&base=EUR'],
  ])('of %s has in a range each currency quoted on one of its days: %s', async (service, path) => {
    const now = (): number => NOW
    const history = createBank({
      codes: ['AED', 'USD'],
      now,
      maxDays: 366,
      hasSeries: false,
      change({ base, days }) {
        const ratesOn = (day: string): object =>
          /-1[78]$/.test(day) ? { AED: 4, USD: 1 } : { USD: 1 }
        return { base, days: days.map(({ date }) => ({ date, rates: { ...ratesOn(date) } })) }
      },
    })
    const routes = MOUNTS[service]()
    const handler = createRatesHandler({ providers: { latest: false, history }, now, routes })
    const response = await handler(new Request(`http://localhost${path}`))
    expect((await response.text()).match(/"(?:EUR)?AED":/g)).toHaveLength(
      path.startsWith('/change') ? 1 : 2,
    )
  })
})
