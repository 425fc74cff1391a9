import { describe, expect, it } from 'vitest'

import { withFacts } from '../fixtures/facts.ts'
import { openMarket } from '../fixtures/hand-written-market.ts'
import { WITHOUT_YEN, longService } from '../fixtures/long-market.ts'

const PAIR = 'from=USD&to=EUR'
/** Invalid days; the first is empty. */
const INVALID_DAYS =
  ' today 20261119 2026-11-9 2026-1-5 2026-11-31 2026-02-29 2026-02-30 2026-13-01 2026-00-10 26-11-19 ' +
  '2026-11-19T00:00 2026-11-20T10:00:00Z 2026-11-19%20 %202026-11-19 -2026-11-19 %2B02026-11-19 ' +
  '2026/11/19 19-11-2026 2026-W47-4 1763510400000 2026-11-19,2026-11-18 %EF%BC%92026-11-19 ' +
  encodeURIComponent('٢٠٢٦-٠١-٠٥')

/** Expected facts of messages by status and code, for targets below `/api/v1/`. */
type Refusals = Record<string, [target: string, facts: string][]>

/** The message of each parameter; openapi/responses.test.ts tries values of all of them against the document. */
const MALFORMED: Refusals = {
  '400 missing_parameter': [
    ['convert?to=USD&amount=x', 'Missing required parameter: from'],
    ['convert?from=EUR&reverse=true', 'Missing required parameter: to'],
    [`history?${PAIR}&end=2026-11-02&interval=week`, 'Missing required parameter: start'],
  ],
  '400 invalid_currency': [
    ['latest?base=', 'Invalid base currency: '],
    ['latest?symbols=EUR,EURO,US', 'Invalid symbols currency: EURO'],
    ['latest?date=2022-12-30&symbols=%20%20a%20%20b%20%20,', 'Invalid symbols currency: a  b'],
    ['convert?from=EURO&to=US', 'Invalid from currency: EURO'],
    ['convert?from=EUR&to=%20EUR&reverse=true', 'Invalid to currency:  EUR'],
    ['convert?from=EUR&to=EUR,EURO,US', 'Invalid to currency: EURO'],
    ['convert?from=USD,EUR&to=JPY', 'Invalid from currency: USD,EUR'],
    [`convert?from=EUR&to=${'A'.repeat(3_000)}%41`, 'A'.repeat(32)],
  ],
  '400 invalid_period': [
    [`history?${PAIR}&period=2W&start=2026-11-02`, 'Invalid period: 2W …1W, 1M, 3M, 6M, 1Y, 5Y'],
    [`history?${PAIR}&period=&start=&end=&interval=&format=`, 'Invalid period:  …1W'],
  ],
  '400 invalid_parameter': [
    ...rowsFor('latest?symbols=', listOf(251, 1_003), 'symbols… 250 codes … 2048 characters'),
    ...rowsFor('convert?from=EUR&to=', listOf(250, 2_049), 'to… 250 codes … 2048 characters'),
    [
      `history?from=USD&to=${'EUR,'.repeat(21)}`,
      'Invalid parameter: to (…at most 20 codes and 2048 characters)',
    ],
    ...rowsFor('latest?date=', INVALID_DAYS, 'date …YYYY-MM-DD'),
    ...rowsFor(`history?${PAIR}&end=`, '2026-11-31', 'end …YYYY-MM-DD'),
    ...['latest?date=', `convert?${PAIR}&date=`].flatMap((target) =>
      rowsFor(target, '2026-11-22 2027-01-01 9999-12-31', 'date …not …after today'),
    ),
    ...rowsFor(
      'latest?date=2026-11-19&rule=',
      'Next',
      'rule (must be on-or-before, exact, next, previous-business-day or period-end)',
    ),
    ...rowsFor('latest?date=2026-11-19&maxAge=', '36601', 'maxAge (…days, 0 to 36600)'),
    ...rowsFor(`convert?${PAIR}&reverse=`, 'TRUE', 'reverse …true or false'),
    ...rowsFor(`convert?${PAIR}&round=`, '2', 'round (must be minor or cash)'),
    ...rowsFor(`history?${PAIR}&interval=`, 'WEEK', 'interval …day, …quarter or year'),
    ...rowsFor(`history?${PAIR}&interval=year&value=`, '1', 'value …last, …high or low'),
    ...rowsFor(`history?${PAIR}&value=`, 'average open high low', 'value (needs interval …year)'),
    ...rowsFor(`history?${PAIR}&interval=day&value=`, 'high', 'value (needs interval …year)'),
    ...rowsFor(`history?${PAIR}&fill=`, 'next', 'fill (must be previous)'),
    ...rowsFor(`history?${PAIR}&fill=previous&interval=`, 'week year', 'fill (needs interval day)'),
    ...rowsFor(`history?${PAIR}&format=csv&layout=`, 'tall', 'layout (must be long or wide)'),
    ...rowsFor(`history?${PAIR}&layout=`, 'wide wide&format=json', 'layout (needs format=csv)'),
    ...rowsFor('latest?format=', 'toString', 'format …json or csv'),
    [`history?${PAIR}&start=2026-11-02&end=2026-11-01`, 'start …not …after end'],
    ...rowsFor(
      `history?${PAIR}&period=1M&`,
      'start=2026-11-02 end=2026-11-02',
      'period …start or end',
    ),
  ],
}

/** In a market with few currencies, and gaps between its days. */
const OF_FEW_RATES: Refusals = {
  '400 invalid_currency': [
    ['convert?from=USD&to=EUR,zzz,yyy', 'Invalid to currency: zzz'],
    ['convert?from=ZZZ&to=EUR,YYY', 'Invalid from currency: ZZZ'],
  ],
  '400 invalid_amount': [
    ['convert?from=USD&to=EUR,KWD&amount=1e308&reverse=true', 'amount: 1e308 …result'],
  ],
  '400 unsupported_currency': [
    [
      'convert?from=KWD&to=EUR&date=2026-11-20',
      'Unsupported from currency: KWD …2026-11-20 …EUR, JPY, USD',
    ],
    [
      'convert?from=EUR&to=USD,GRD&date=2026-11-21',
      'withdrawn on 2001-01-01, use EUR, 1 EUR = 340.75 GRD…2026-11-20 …EUR, JPY, USD',
    ],
  ],
  '404 no_data': [
    ['convert?from=EUR&to=HRK&date=2023-01-02', 'HRK on 2023-01-02'],
    ['convert?from=HRK&to=USD,EUR&date=2026-11-20', 'HRK on 2026-11-20 (withdrawn'],
    // More than 14 days after the last publication.
    ['convert?from=EUR&to=USD&date=2021-11-20', '2021-11-20'],
    ['convert?from=EUR&to=USD&date=0000-01-01', '0000-01-01'],
  ],
}

/** In a market with many currencies and all working days since 1999. */
const OF_MANY_RATES: Refusals = {
  '400 unsupported_currency': [
    ['history?from=AED&to=EUR&start=2026-11-02', 'from currency: AED …history …AUD'],
    ['history?from=EUR&to=aed&start=2026-11-02', 'Unsupported to currency: aed …AUD'],
    ['history?from=HRK&to=EUR&interval=week', 'Unsupported from currency: HRK'],
    ['latest?date=2024-01-02&base=AED', 'Unsupported base currency: AED …2024-01-02 …AUD'],
    [
      'latest?date=2024-01-02&symbols=USD,aed',
      'Unsupported symbols currency: aed …2024-01-02 …AUD',
    ],
    ['latest?date=2004-01-02&base=DEM', 'withdrawn on 1999-01-01, use EUR'],
  ],
  '404 no_data': [
    ['latest?date=0001-01-01', '0001-01-01'],
    [`latest?date=${WITHOUT_YEN}&base=JPY`, `JPY on ${WITHOUT_YEN}`],
    [`latest?date=${WITHOUT_YEN}&symbols=USD,jpy`, `JPY on ${WITHOUT_YEN}`],
    // Quoted once, but on none of the loaded days.
    ['history?from=CYP&to=EUR&start=2026-11-02', 'withdrawn on 2008-01-01, use EUR'],
    ['history?from=LVL&to=EUR&start=2022-01-03&end=2022-02-01', 'LVL…EUR'],
    ['convert?from=EUR&to=LVL&date=2022-02-01', 'LVL on '],
    ['latest?base=rub&date=2025-02-03', 'RUB on 2025-02-03'],
    // Not withdrawn on that day: omitting it would hide a missing rate.
    ['latest?date=2004-01-02&symbols=USD,SIT', 'SIT on 2004-01-02'],
    ['latest?date=2023-01-03&base=HRK', 'HRK on 2023-01-03 (withdrawn on'],
    [`history?${PAIR}&start=2026-11-14&end=2026-11-15`, 'USD…EUR'],
    [`history?${PAIR}&start=2026-11-21`, 'USD…EUR'],
    [`history?${PAIR}&start=2999-01-01&end=2999-01-02`, 'USD…EUR'],
    [`history?${PAIR}&start=1990-01-01&end=1998-12-31`, 'USD…EUR'],
    [
      'history?from=USD&to=HRK&start=2023-01-01&end=2023-01-31',
      'USD…HRK…withdrawn on 2023-01-01, use EUR',
    ],
    [`history?from=USD&to=JPY&start=${WITHOUT_YEN}&end=${WITHOUT_YEN}`, 'USD…JPY'],
  ],
}

describe('a parameter', () => {
  it.each<[target: string, field: string, value: unknown]>([
    ['latest?symbols=%20,,%20%20,%20', 'rates', ['USD', 'EUR', 'JPY', 'KWD', 'SLL']],
    [`latest?symbols=${listOf(250, 2_048)}`, 'rates', ['EUR']],
    [`convert?from=USD&to=${listOf(250, 2_048)}`, 'results', ['EUR']],
    [`convert?${PAIR}&reverse=false`, 'reverse', undefined],
  ])('is parsed from /api/v1/%s: %s is %j', async (target, field, expected) => {
    const response = await openMarket().get(`/v1/${target}`)
    expect(response.status).toBe(200)
    const value = (await response.json())[field]
    expect(Array.isArray(expected) ? Object.keys(value) : value).toEqual(expected)
  })
})

describe('an invalid request', () => {
  it.each(rowsOf(MALFORMED))('%s is %s before any data is loaded: %s', async (...row) => {
    const market = openMarket()
    await expectRefusal(market, ...row)
    expect(market.calls).toEqual([])
  })

  it.each(rowsOf(OF_FEW_RATES))('%s is %s with few rates: %s', async (...row) => {
    await expectRefusal(openMarket(), ...row)
  })

  it.each(rowsOf(OF_MANY_RATES))('%s is %s with many rates: %s', async (...row) => {
    await expectRefusal(longService(), ...row)
  })

  it.each([
    ['convert?from=USD&to=EUR,', 'Invalid to currency: EUR,'],
    ['rates?format=CSV', 'Invalid parameter: format'],
  ])('/api/%s has an unversioned error before any data is loaded: %s', async (target, error) => {
    const { calls, get } = openMarket()
    const response = await get(`/${target}`)
    expect([response.status, await response.json(), calls]).toEqual([400, { error }, []])
  })
})

async function expectRefusal(
  { handler }: Pick<ReturnType<typeof openMarket>, 'handler'>,
  target: string,
  outcome: string,
  facts: string,
): Promise<void> {
  const response = await handler(new Request(`http://localhost/api/v1/${target}`))
  const { headers } = response
  const text = await response.text()
  const { error } = JSON.parse(text)
  expect(`${response.status} ${error.code}`).toBe(outcome)
  expect(error.message).toMatch(withFacts(facts))
  expect(text.length).toBeLessThan(1_024)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('access-control-allow-origin')).toBe('*')
}

function rowsOf(refusals: Refusals): [target: string, outcome: string, facts: string][] {
  return Object.entries(refusals).flatMap(([outcome, rows]) =>
    rows.map(([target, facts]): [string, string, string] => [target, outcome, facts]),
  )
}

/** Returns a row for each of `texts` (separated by spaces), appended to `target`. */
function rowsFor(target: string, texts: string, facts: string): [string, string][] {
  return texts.split(' ').map((text) => [`${target}${text}`, `Invalid parameter: ${facts}`])
}

/** Returns a list of `count` codes, padded with spaces to `characters`. */
function listOf(count: number, characters: number): string {
  const list = Array.from({ length: count }, () => 'EUR').join()
  return list + '%20'.repeat(characters - list.length)
}
