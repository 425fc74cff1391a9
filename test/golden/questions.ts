// What is asked, of which world, through which doors. Only data: a question and its world never depend on another scene.
import { readFileSync } from 'node:fs'

import type { Question } from './doors.ts'
import { CODES } from './market.ts'
import { KEYS } from './worlds.ts'
import type { WorldOptions } from './worlds.ts'

export interface Scene {
  name: string
  world: WorldOptions
  /** Names of doors; each has its own world. */
  doors: readonly string[]
  questions: readonly Question[]
  /** Targets that are requested before, so that every question finds the same data loaded. */
  warm?: readonly string[]
  /** Whether the questions are asked in order, as each changes the world. */
  isSequence?: boolean
}

/** A Friday evening in winter, after all publications. */
const FRIDAY = '2026-11-20T18:00:00Z'
const LATEST = '/api/v1/latest'
const CONVERT = '/api/v1/convert'
const HISTORY = '/api/v1/history'
const LOADED = [
  LATEST,
  `${HISTORY}?from=EUR&to=USD&period=5Y`,
  `${HISTORY}?from=EUR&to=USD&start=1999-01-04&interval=year`,
]
const MAJORS = 'USD EUR JPY GBP CHF CAD AUD NZD CNY SEK NOK PLN'.split(' ')
const PERIODS = ['1W', '1M', '3M', '6M', '1Y', '5Y']
const RULES = ['on-or-before', 'exact', 'next', 'previous-business-day', 'period-end']
const PAIRS = MAJORS.flatMap((from) =>
  MAJORS.filter((to) => to !== from).map((to) => [from, to] as const),
)

const gets = (...targets: string[]): Question[] => targets.map((target) => ({ target }))
const list = (text: string): string[] => text.trim().split(/\s+/)

/** The requests of the catalogue; tokens such as `{{rep|A|300}}` make long texts. */
function catalogue(): Question[] {
  const entries: Question[] = JSON.parse(
    readFileSync(new URL('../catalogue/bad-inputs.json', import.meta.url), 'utf8'),
  )
  const expand = (text: string): string =>
    text
      .replace(/\{\{rep\|([^|]*)\|(\d+)\}\}/g, (_, part: string, size) => part.repeat(size))
      .replace(/\{\{codes:(\d+)\}\}/g, (_, size) =>
        Array.from({ length: size }, (_, index) => codeAt(index)).join(),
      )
      .replace(/\{\{params:(\d+)\}\}/g, (_, size) =>
        Array.from({ length: size }, (_, index) => `p${index}=1`).join('&'),
      )
  return entries.map(({ method, target = '', headers = {} }) => ({
    method: method ?? 'GET',
    target: expand(target),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, expand(value)]),
    ),
  }))
}

/** AAA, AAB, AAC … */
function codeAt(index: number): string {
  return [index / 676, index / 26, index]
    .map((digit) => String.fromCharCode(65 + (Math.floor(digit) % 26)))
    .join('')
}

/** Valid values of each parameter, then, after a bar, invalid or unusual ones; `_` is the empty text. */
const VALUES: Record<string, string> = {
  base: 'EUR usd XOF | _ EURO U$D XXX GBp GBX DEM HRK',
  symbols: 'EUR,USD jpy EUR,BGN,HRK | _ , XXX EUR,XX EUR;USD',
  from: 'USD gbp KWD | _ XYZ ZAc BTC',
  to: 'EUR jpy USD,GBP EUR, | _ XYZ EUR,XYZ ,',
  amount:
    '100 0.1 1e-7 12345678.995 .5 | _ -1 0 1,5 1e400 NaN 0x10 1e999999999999 +1 9007199254740993',
  date: '2026-11-15 2020-02-29 2026-11-20 1999-01-04 2025-12-31 | _ 2026-11-21 2027-01-01 1998-12-31 2026-02-30 yesterday 20261120',
  rule: `${RULES.join(' ')} | _ Exact first`,
  maxAge: '3 0 36600 | _ -1 1.5 36601 x',
  source: 'ecb | _ ECB nbp nbp-a x',
  reverse: 'true false | _ TRUE 1',
  round: 'minor cash | _ none Minor',
  expand: 'sources | _ source all',
  format: 'json csv | _ xml CSV',
  period: `${PERIODS.join(' ')} | _ 1w 2W 10Y 1D`,
  start: '2026-10-01 2016-02-29 | _ 1980-01-01 2030-01-01 2026-02-30',
  end: '2026-10-31 2030-01-01 | _ 1998-01-01 x',
  interval: 'day week month quarter year | _ hour Week',
  value: 'last average open high low | _ mean',
  fill: 'previous | _ next none',
  layout: 'long wide | _ tall',
}

/** The parameters of each endpoint, and what is always in the query. */
const ENDPOINTS: [path: string, fixed: string, parameters: string][] = [
  [LATEST, '', 'base symbols date rule maxAge source format'],
  [
    CONVERT,
    'from=USD&to=EUR',
    'from to amount date rule maxAge source reverse round expand format',
  ],
  [HISTORY, 'from=USD&to=EUR', 'from to period start end interval value fill source format layout'],
  ['/api/rates', '', 'base format'],
  ['/api/convert', 'from=USD&to=EUR', 'from to amount'],
  ['/api/v1/currencies', '', ''],
  ['/api/v1/sources', '', ''],
  ['/api/v1/status', '', ''],
  ['/api/v1/openapi.json', '', ''],
  ['/api/v1', '', ''],
  ['/api', '', ''],
]

/** Names that are no parameters: mistaken, of other services, or to be ignored. */
const OTHER_NAMES =
  list(`BASE base[] bas From currencies quotes symbol start_date startDate places amp;amount ba%73e access_key app_id key
  utm_source fbclid callback v _ x_id apikey cb colour date[] timestamp precision limit page lang group providers`)

/** Queries of each endpoint: one parameter with every value, and every two with the first ones. */
function parameters(): Question[] {
  return ENDPOINTS.flatMap(([path, fixed, names]) => {
    const known = names.split(' ').filter(Boolean)
    const valuesOf = (name: string): string[] =>
      (VALUES[name] ?? '').split(' ').filter((value) => value !== '' && value !== '|')
    const query = (given: Record<string, string>): string => {
      const all = { ...Object.fromEntries(new URLSearchParams(fixed)), ...given }
      return `${path}?${Object.entries(all)
        .map(([name, value]) => `${name}=${value === '_' ? '' : encodeURIComponent(value)}`)
        .join('&')}`
    }
    const single = known.flatMap((name) => valuesOf(name).map((value) => query({ [name]: value })))
    const double = known.flatMap((one, index) =>
      known.slice(index + 1).flatMap((other) => {
        const [firsts, seconds] = [valuesOf(one).slice(0, 2), valuesOf(other).slice(0, 3)]
        return firsts.flatMap((first) =>
          seconds.map((second) => query({ [one]: first, [other]: second })),
        )
      }),
    )
    const others = OTHER_NAMES.map((name) => `${path}?${fixed}&${name}=USD`)
    const [twice] = known.map((name) => `${path}?${fixed}&${name}=EUR&${name}=EUR`)
    return gets(
      ...new Set([
        path,
        `${path}?${fixed}`,
        ...single,
        ...double,
        ...others,
        ...(twice === undefined ? [] : [twice]),
      ]),
    )
  })
}

/** Rules for a date, around weekends, holidays, month ends and the newest day. */
function rules(): Question[] {
  const days = list(
    '2026-11-14 2026-11-20 2026-11-21 2026-11-30 2026-04-03 2026-04-06 2025-12-31 2024-02-29 2023-12-31 1999-01-01 1999-01-31',
  )
  return days.flatMap((date) =>
    RULES.flatMap((rule) =>
      gets(
        `${CONVERT}?from=USD&to=JPY&amount=99.95&date=${date}&rule=${rule}&round=minor`,
        `${LATEST}?base=GBP&symbols=EUR,USD&date=${date}&rule=${rule}&maxAge=2`,
        `${LATEST}?date=${date}&rule=${rule}&format=csv`,
      ),
    ),
  )
}

/** Histories: all intervals with all values, filled, wide, of lists and of currencies that have ended. */
function histories(): Question[] {
  const intervals = list('day week month quarter year')
  return gets(
    ...intervals.flatMap((interval) =>
      list('last average open high low').map(
        (value) =>
          `${HISTORY}?from=USD&to=JPY&start=2024-11-13&end=2026-11-13&interval=${interval}&value=${value}`,
      ),
    ),
    ...intervals.map(
      (interval) =>
        `${HISTORY}?from=EUR&to=USD,GBP,JPY&start=2020-01-01&interval=${interval}&format=csv&layout=wide`,
    ),
    ...PERIODS.flatMap((period) =>
      ['json', 'csv', 'csv&layout=wide'].map(
        (format) =>
          `${HISTORY}?from=CHF&to=EUR,USD&period=${period}&fill=previous&format=${format}`,
      ),
    ),
    ...list('BGN HRK RUB DEM XOF EUR').flatMap((code) => [
      `${HISTORY}?from=EUR&to=${code}&start=2021-12-15&end=2023-01-20`,
      `${HISTORY}?from=${code}&to=USD&start=2005-01-01&interval=year&value=average`,
      `${HISTORY}?from=EUR&to=USD,${code}&period=1M`,
      `${LATEST}?base=${code}&date=2022-03-01`,
      `${CONVERT}?from=${code}&to=EUR,USD&amount=7.5&date=2022-12-31&round=cash`,
    ]),
    `${HISTORY}?from=EUR&to=${MAJORS.slice(2).join()}&start=1999-01-04&interval=quarter`,
    `${HISTORY}?from=EUR&to=${CODES.slice(0, 21).join()}`,
    `${HISTORY}?from=EUR&to=USD&start=1999-01-04&format=csv`,
    `${HISTORY}?from=JPY&to=KRW&start=1999-01-04`,
  )
}

/** Bodies of `POST /v1/convert`. */
function rows(): Question[] {
  const post = (type: string, body: string, query = ''): Question => ({
    method: 'POST',
    target: `${CONVERT}${query}`,
    headers: { 'Content-Type': type },
    body,
  })
  const row = { from: 'USD', to: 'EUR' }
  const variants: object[] = [
    {},
    { amount: 12.5 },
    { amount: '99.90' },
    { amount: -5 },
    { amount: '' },
    { amount: null },
    { amount: 'x' },
    { amount: '0.1', round: 'minor' },
    { to: ['EUR', 'JPY'] },
    { to: ['EUR', 'XYZ'] },
    { to: 'XYZ' },
    { from: 1 },
    { date: '2026-01-18', rule: 'next' },
    { date: '2026-01-18', rule: 'exact' },
    { date: 'x' },
    { date: '2026-01-18', maxAge: 1 },
    { maxAge: 1 },
    { reverse: true, amount: 10 },
    { reverse: 'true' },
    { source: 'ecb', date: '2026-01-15' },
    { source: 'x', date: '2026-01-15' },
    { expand: 'sources' },
    { colour: 1 },
    { Amount: 1 },
    { round: 'cash', to: 'CHF', amount: '1.03' },
  ]
  const cells =
    'date,from,to,amount\n2026-01-15,USD,EUR,12.5\n2026-01-17,GBP,JPY,"1,5"\n,EUR,XYZ,3\n2026-01-17,usd,eur,\n,CHF,SEK,-0.005\n'
  const tables = [
    cells,
    cells.replaceAll(',', ';'),
    cells.replaceAll(',', '\t'),
    cells.replaceAll('\n', '\r\n'),
    `\u{FEFF}${cells}`,
    `sep=;\n${cells.replaceAll(',', ';')}`,
    'from,to,amount,note\nUSD,EUR,1,=1+1\n',
    'from,to\nUSD,EUR\n',
    'From, TO ,AMOUNT\nUSD,EUR,5\n',
    'from,to,amount,round,reverse\nUSD,JPY,9.99,minor,true\n',
    'from,to,amount,rule,date,maxAge\nUSD,JPY,9.99,next,2026-11-14,3\n',
    '',
    '\n',
    'USD,EUR,1\n',
    'from,to,amount\n"USD,EUR,1',
    'from,from,to\nUSD,USD,EUR\n',
    'from,to,amount,currency\nUSD,EUR,1,2\n',
    'from,to,amount\rUSD,EUR,5\r',
  ]
  return [
    ...variants.map((each) => post('application/json', JSON.stringify([{ ...row, ...each }]))),
    post('application/json', JSON.stringify(variants.map((each) => ({ ...row, ...each })))),
    post(
      'application/json',
      JSON.stringify(variants.slice(0, 8).map((each) => ({ ...row, ...each }))),
      '?format=csv',
    ),
    ...[
      '',
      '[]',
      '{}',
      '[1]',
      '[null]',
      'null',
      '[{"from":"USD"',
      '[{"from":"USD","to":"EUR","amount":1e400}]',
    ].map((body) => post('application/json', body)),
    ...tables.flatMap((body) => [post('text/csv', body), post('text/csv', body, '?format=json')]),
    ...list(
      'text/plain application/csv text/tab-separated-values application/vnd.ms-excel text/csv;charset=latin1 application/json;charset=utf-16',
    ).map((type) => post(type, cells)),
    post('application/json', '[]', '?from=USD'),
    post('application/json', JSON.stringify(Array.from({ length: 10_001 }, () => row))),
    { method: 'POST', target: LATEST, body: '[]' },
    { method: 'POST', target: CONVERT, body: '[]' },
    {
      ...post('application/json', '[]'),
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    },
  ]
}

/** Methods, preconditions and origins, on every endpoint. */
function requests(): Question[] {
  const targets = ENDPOINTS.map(([path, fixed]) => (fixed === '' ? path : `${path}?${fixed}`))
  return targets.flatMap((target) => [
    ...list('HEAD OPTIONS PUT DELETE PATCH POST').map((method) => ({ method, target })),
    ...[`{{etag:${target}}}`, `W/{{etag:${target}}}`, '*', '"x", "y"', 'x'].map((tag) => ({
      target,
      headers: { 'If-None-Match': tag },
    })),
    ...[`{{etag:${target}}}`, '"x"'].map((tag) => ({ target, headers: { 'If-Match': tag } })),
    { target, headers: { Origin: 'https://shop.example' } },
    { target, headers: { Origin: 'https://other.example' } },
    {
      method: 'OPTIONS',
      target,
      headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'GET' },
    },
    { target, headers: { Accept: 'text/csv', 'Accept-Encoding': 'gzip, br', Range: 'bytes=0-9' } },
  ])
}

/** Calls without HTTP, and of the client. */
function calls(): Question[] {
  const call = (operation: string, ...args: unknown[]): Question => ({ call: [operation, ...args] })
  const pair = { from: 'USD', to: 'EUR' }
  return [
    ...[
      undefined,
      {},
      { base: 'EUR' },
      { base: 'eur', symbols: ['USD', 'jpy'] },
      { symbols: [] },
      { symbols: 'USD' },
      { base: 'XXX' },
      { base: 1 },
      { date: '2026-11-15' },
      { date: '2026-11-15', rule: 'next', maxAge: 3 },
      { rule: 'next' },
      { date: '2026-11-15', source: 'x' },
      { bas: 'EUR' },
      { from: 'EUR' },
      { format: 'csv' },
      null,
      'EUR',
    ].map((params) => call('latest', params)),
    ...[
      {},
      { amount: 12.5 },
      { amount: '12.50' },
      { amount: -1 },
      { amount: Infinity },
      { amount: '1,5' },
      { to: ['EUR', 'JPY'] },
      { to: [] },
      { to: 'EUR,JPY' },
      { reverse: true },
      { reverse: 'yes' },
      { round: 'minor', amount: 1.005 },
      { round: 'cash', to: 'CHF' },
      { date: '2020-02-29' },
      { date: '2020-02-29', rule: 'exact' },
      { expand: 'sources' },
      { expand: ['sources'] },
      { from: 'DEM' },
      { amout: 1 },
      { from: undefined },
    ].map((params) => call('convert', { ...pair, ...params })),
    ...[
      {},
      { period: '1W' },
      { period: '2W' },
      { start: '2026-11-01' },
      { start: '2026-11-01', end: '2026-11-10', interval: 'week', value: 'average' },
      { period: '1M', start: '2026-11-01' },
      { to: ['USD', 'GBP'], from: 'EUR' },
      { fill: 'previous', period: '1W' },
      { to: [] },
      { from: 'XOF' },
      { interval: 'hour', start: '2026-11-01' },
      { layout: 'wide' },
      { source: 'ecb', period: '1W' },
    ].map((params) => call('history', { ...pair, ...params })),
    call('convertMany', [
      pair,
      { ...pair, amount: 'x' },
      { from: 'USD' },
      null,
      { ...pair, date: '2026-01-17' },
    ]),
    call('convertMany', []),
    call('convertMany', 'x'),
    call('currencies'),
    call('currencies', { symbols: ['USD'] }),
    call('sources'),
    call('status'),
    call('status', { x: 1 }),
  ]
}

const EVERYTHING = gets(
  LATEST,
  `${LATEST}?base=EUR&symbols=USD,JPY,BGN,AED`,
  `${LATEST}?date=2026-11-20`,
  `${CONVERT}?from=USD&to=EUR&amount=100`,
  `${CONVERT}?from=USD&to=EUR&date=2026-11-15&rule=next`,
  `${CONVERT}?from=EUR&to=USD&expand=sources`,
  ...PERIODS.slice(0, 5).map((period) => `${HISTORY}?from=EUR&to=USD&period=${period}`),
  `${HISTORY}?from=EUR&to=USD&start=2026-01-01&fill=previous&format=csv`,
  `${HISTORY}?from=USD&to=GBP&start=2025-06-01&interval=month&value=average`,
  ...RULES.flatMap((rule) =>
    ['2026-04-05', '2026-12-31'].map(
      (date) => `${CONVERT}?from=EUR&to=USD&date=${date}&rule=${rule}`,
    ),
  ),
  '/api/v1/currencies',
  '/api/v1/sources',
  '/api/v1/status',
  '/api/rates?base=EUR',
  '/api/convert?from=USD&to=EUR&amount=2',
)

/** Weekends, ends of months and years, closing days, leap days, summer time, around both publications. */
const CLOCKS =
  list(`2026-11-20T14:59:00Z 2026-11-20T15:01:00Z 2026-11-20T16:30:00Z 2026-11-21T00:01:00Z 2026-11-21T00:10:00Z 2026-11-22T12:00:00Z 2026-11-23T09:00:00Z
  2026-12-31T14:00:00Z 2026-12-31T23:59:59Z 2027-01-01T00:00:00Z 2027-01-02T12:00:00Z 2026-03-31T18:00:00Z 2026-03-31T13:59:00Z 2026-03-29T00:59:00Z 2026-10-25T01:30:00Z 2026-04-03T12:00:00Z
  2026-04-06T18:00:00Z 2026-04-07T08:00:00Z 2026-05-01T12:00:00Z 2026-12-24T20:00:00Z 2026-12-25T12:00:00Z 2026-12-28T10:00:00Z 2028-02-29T18:00:00Z 2028-03-01T09:00:00Z 2027-02-28T12:00:00Z 2026-06-30T14:01:00Z 2026-07-15T12:00:00Z`)

/** What happens to loaded data while the upstreams fail, and afterwards. */
function outage(): Question[] {
  const hour = 3_600_000
  const at = (hours: number): string => new Date(Date.parse(FRIDAY) + hours * hour).toISOString()
  const asked = gets(
    LATEST,
    `${CONVERT}?from=USD&to=EUR`,
    `${HISTORY}?from=EUR&to=USD&period=1W`,
    `${HISTORY}?from=EUR&to=USD&start=2001-01-01&end=2001-02-01`,
    '/api/v1/status',
    '/api/v1/currencies',
    '/api/rates',
    '/api/v1/sources',
  )
  return [
    ...asked,
    ...[1, 24, 25, 30, 72, 7 * 24, 9 * 24, 15 * 24, 30 * 24].flatMap((hours) =>
      asked.map((each, index) => ({
        ...each,
        ...(index === 0 && { before: { at: at(hours), isUp: false } }),
      })),
    ),
    ...asked.map((each, index) => ({
      ...each,
      ...(index === 0 && { before: { at: at(31 * 24), isUp: true, isRefreshed: true } }),
    })),
  ]
}

/** Feeds that send doubtful or broken data after good ones. */
function doubts(): Question[] {
  const asked = gets(
    LATEST,
    `${CONVERT}?from=USD&to=THB&amount=100`,
    `${LATEST}?base=THB&symbols=EUR,USD`,
    `${HISTORY}?from=EUR&to=THB&period=1W`,
    '/api/v1/status',
  )
  const days = [
    (text: string) => text.replaceAll(/"THB":[\d.]+/g, '"THB":32000'),
    (text: string) => text.replaceAll(/"THB":[\d.]+/g, '"THB":32100'),
    (text: string) => text.replaceAll(/"EUR":[\d.]+/g, '"EUR":1.9'),
    (text: string) => text.replaceAll(/"GBP":[\d.]+,/g, ''),
    (text: string) => text.replaceAll(/"(JPY|CHF)":[\d.]+/g, '"$1":-1'),
    (text: string) => text.slice(0, -40),
    (text: string) => text.replaceAll(/"AED":[\d.]+/g, '"AED":4.1'),
    (text: string) => text,
  ]
  return [
    ...asked,
    ...days.flatMap((edit, day) =>
      asked.map((each, index) => ({
        ...each,
        ...(index === 0 && {
          before: {
            at: new Date(Date.parse(FRIDAY) + (day + 1) * 86_400_000).toISOString(),
            edit,
            isRefreshed: true,
          },
        }),
      })),
    ),
  ]
}

/** Requests with and without keys, up to the limits and after them. */
function keys(): Question[] {
  const target = `${LATEST}?base=EUR&symbols=USD`
  const keyed = (key: string): Question => ({
    target,
    headers: { 'X-API-Key': key },
    client: '192.0.2.9',
  })
  const times = (count: number, question: Question): Question[] =>
    Array.from({ length: count }, () => question)
  return [
    ...times(7, { target, client: '192.0.2.1' }),
    { target, client: '192.0.2.2' },
    { target, client: '2001:db8::1' },
    { target, client: '2001:db8::2' },
    { target, client: '192.0.2.1', before: { at: '2026-11-20T18:00:13Z' } },
    { target, client: '192.0.2.1', before: { at: '2026-11-20T18:01:30Z' } },
    keyed(KEYS.pro),
    keyed(KEYS.expired),
    keyed(KEYS.lost),
    keyed(KEYS.web),
    keyed('wrong'),
    keyed(''),
    keyed('x'.repeat(300)),
    { ...keyed(KEYS.web), headers: { 'X-API-Key': KEYS.web, Origin: 'https://shop.example' } },
    { ...keyed(KEYS.web), headers: { 'X-API-Key': KEYS.web, Origin: 'https://other.example' } },
    { target, headers: { Authorization: `Bearer ${KEYS.pro}` } },
    { target, headers: { Authorization: `Bearer ${KEYS.pro}`, 'X-API-Key': 'wrong' } },
    { target, headers: { Authorization: 'Basic Z29sZGVu' }, client: '192.0.2.3' },
    { target: `${target}&access_key=${KEYS.pro}` },
    { target: `${target}&access_key=${KEYS.pro}`, headers: { 'X-API-Key': KEYS.small } },
    ...[
      `${CONVERT}?from=USD&to=EUR,GBP,JPY`,
      `${CONVERT}?from=USD&to=EUR&expand=sources`,
      `${HISTORY}?from=EUR&to=USD,GBP,JPY,CHF`,
      '/api/v1/status',
      '/api/v1/openapi.json',
      '/api/v1/usage',
      '/api/rates',
      '/nowhere',
      `${LATEST}?base=XXX`,
    ].map((each) => ({ target: each, headers: { 'X-API-Key': KEYS.small } })),
    ...times(8, keyed(KEYS.small)),
    { ...keyed(KEYS.small), method: 'OPTIONS' },
    { ...keyed(KEYS.small), method: 'HEAD' },
    {
      method: 'POST',
      target: CONVERT,
      headers: { 'X-API-Key': KEYS.pro, 'Content-Type': 'application/json' },
      body: '[{"from":"USD","to":"EUR"},{"from":"USD","to":"JPY"}]',
    },
    ...times(66, keyed(KEYS.pro)),
    { ...keyed(KEYS.pro), before: { at: '2026-12-01T00:00:01Z' } },
  ]
}

const BANKS = list(
  'ecb nbp-a nbp-b cnb norges-bank riksbank bank-of-canada bnr nbu bank-of-england mnb hmrc banca-d-italia',
)
const BASES: Record<string, string> = {
  ecb: 'EUR',
  'nbp-a': 'PLN',
  'nbp-b': 'PLN',
  cnb: 'CZK',
  'norges-bank': 'NOK',
  riksbank: 'SEK',
  'bank-of-canada': 'CAD',
  bnr: 'RON',
  nbu: 'UAH',
  'bank-of-england': 'GBP',
  mnb: 'HUF',
  hmrc: 'GBP',
  'banca-d-italia': 'EUR',
}

function bankQuestions(ids: readonly string[]): Question[] {
  return ids.flatMap((id) => {
    const [base, of] = [BASES[id], `source=${id}`]
    return gets(
      `${LATEST}?date=2026-11-20&${of}`,
      `${LATEST}?base=${base}&symbols=USD,JPY&date=2026-08-15&rule=next&${of}`,
      `${LATEST}?date=2026-11-20&${of}&format=csv`,
      ...RULES.map(
        (rule) => `${CONVERT}?from=USD&to=${base}&amount=12.5&date=2026-11-14&rule=${rule}&${of}`,
      ),
      `${CONVERT}?from=USD&to=JPY,${base}&date=2026-11-30&${of}`,
      `${HISTORY}?from=USD&to=${base}&period=1M&${of}`,
      `${HISTORY}?from=${base}&to=JPY,USD&start=2026-01-01&interval=month&value=average&${of}`,
      `${HISTORY}?from=USD&to=${base}&start=2026-10-01&fill=previous&${of}&format=csv`,
      `${HISTORY}?from=${base}&to=XOF&period=1M&${of}`,
    )
  })
}

const COMPAT: Record<string, string> = {
  frankfurter: `/v1/latest /v1/latest?base=usd&symbols=jpy,EUR,XYZ /v1/latest?amount=1.1&to=JPY /v1/2026-11-22?symbols=USD /v1/2999-01-01 /v1/2000-03-01 /v1/2026-11-10..2026-11-20?amount=1.1&symbols=JPY
    /v1/2026-11-10.. /v1/2020-01-01..2026-01-01?base=USD&symbols=GBP /v1/currencies /latest /2026-11-20 /history?start_at=2026-11-01&base=EUR /v1/latest?amount=x /v1/latest?base=XYZ /v1/latest?BASE=USD
    /v1/2026-13-01 /v1/2026-11-20..2026-11-19 /v1/1998-01-01 /v1 /v1/rates /v1/latest?base=USD&base=JPY`,
  'frankfurter-v2': `/v2/rates /v2/rates?base=usd&quotes=jpy,EUR /v2/rates?date=2026-11-15&quotes=USD /v2/rates?from=2026-11-01&to=2026-11-13&quotes=USD /v2/rates?from=2026-01-01&group=month&quotes=USD /v2/rate/USD/EUR
    /v2/rate/USD/EUR?date=2020-02-29 /v2/currencies /v2/currency/HRK /v2/rates?providers=ECB&quotes=USD /v2/providers /v2/rates?base=XYZ /v2/rates?symbols=USD`,
  'exchange-rate-api':
    '/v6/latest/USD /v6/latest /v6/latest/eur /v4/latest/USD /v6/k/latest/GBP /v6/k/pair/EUR/GBP /v6/k/pair/EUR/GBP/100 /v6/k/pair/EUR/XYZ/1 /v6/k/codes /v6/k/history/USD/2026/11/13 /v6/latest/XYZ /v6/k/quota /v6/k/enriched/EUR/USD',
  'exchangerate-host': `/live /live?source=EUR&currencies=USD,GBP /historical?date=2026-11-13&source=USD&currencies=EUR /historical?date=x /convert?from=USD&to=EUR&amount=10 /convert?from=USD&to=EUR&amount=10&date=2026-11-13 /convert?from=USD&to=XYZ&amount=10 /convert?from=USD&to=EUR&amount=x
    /timeframe?start_date=2026-11-02&end_date=2026-11-13&currencies=EUR /timeframe?start_date=2024-11-02&end_date=2026-11-13 /change?start_date=2026-11-02&end_date=2026-11-13&currencies=EUR,GBP /change?currencies=EUR /list /live?source=XYZ /live?currencies=XYZ /latest /live?access_key=k`,
  'open-exchange-rates': `/api/latest.json?app_id=k /api/latest.json?base=eur&symbols=USD,XYZ /api/historical/2026-11-21.json?base=EUR /api/time-series.json?start=2026-11-02&end=2026-11-13&symbols=EUR,GBP /api/time-series.json?start=2026-11-19 /api/convert/3/EUR/USD /api/convert/1/EUR/XYZ
    /api/convert/1/EUR /api/currencies.json /api/latest.json?base=XYZ /api/historical/2026-13-01.json /api/historical/1990-01-01.json /api/usage.json /api/convert?from=EUR&to=USD /api/v1/openapi.json`,
}

const compatScenes = Object.entries(COMPAT).map(([compat, targets]): Scene => {
  const asked = gets(...list(targets))
  const tagged = asked.slice(0, 2).flatMap(({ target = '' }): Question[] => [
    { target, headers: { 'If-None-Match': `{{etag:${target}}}` } },
    { method: 'HEAD', target },
    { method: 'OPTIONS', target },
    { method: 'POST', target, body: '' },
    { target, headers: { Origin: 'https://shop.example' } },
  ])
  return {
    name: `compat ${compat}`,
    world: { at: FRIDAY, compat, options: { basePath: '/own' } },
    doors: ['answer', 'node'],
    warm: LOADED.map((target) => target.replace('/api', '/own')),
    questions: [...asked, ...tagged],
  }
})

const DEFAULT: WorldOptions = { at: FRIDAY }
const SYNTHETIC: WorldOptions = { at: FRIDAY, latest: ['fake'], history: ['fake'] }

/** Worlds of which everything is asked once, by name. */
const WORLDS: Record<string, WorldOptions> = {
  synthetic: SYNTHETIC,
  'another synthetic': { at: FRIDAY, latest: ['fake-7'], history: ['fake-7'] },
  'first fails': {
    at: FRIDAY,
    latest: ['failing', 'exchange-rate-api'],
    history: ['failing', 'frankfurter'],
  },
  'second would do': {
    at: FRIDAY,
    latest: ['fawazahmed0', 'exchange-rate-api'],
    history: ['ecb', 'frankfurter'],
  },
  'both fail': { at: FRIDAY, latest: ['failing', 'failing'], history: ['failing'] },
  'nothing loads': { at: FRIDAY, isUp: false },
  'no latest rates': { at: FRIDAY, latest: false },
  'no history': { at: FRIDAY, history: false },
  'from one bank': { at: FRIDAY, latest: ['ecb'], history: ['ecb'] },
  v6: { at: FRIDAY, latest: ['exchange-rate-api-v6'] },
  'Open Exchange Rates': { at: FRIDAY, latest: ['open-exchange-rates'] },
  'latest of a bank': { at: FRIDAY, latest: ['norges-bank', 'nbp-a'] },
  pegged: { at: FRIDAY, latest: ['pegged'], history: ['pegged'] },
  fixed: { at: FRIDAY, latest: ['fixed-latest'], history: ['fixed'] },
  overlay: { at: FRIDAY, history: ['overlay'] },
  'pegged overlay': { at: FRIDAY, history: ['pegged-overlay', 'norges-bank'] },
  'no response cache': { ...DEFAULT, options: { responseCacheBytes: 0 } },
}
const DERIVED = gets(
  ...['AED', 'XOF', 'XPT', 'GBP', 'USD', 'BAM'].flatMap((code) => [
    `${CONVERT}?from=EUR&to=${code}&amount=3`,
    `${CONVERT}?from=${code}&to=JPY&date=2026-11-18`,
    `${HISTORY}?from=EUR&to=${code}&period=1M`,
    `${LATEST}?base=${code}&date=2026-11-20&symbols=EUR,USD,AED&format=csv`,
  ]),
  `${HISTORY}?from=EUR&to=USD,AED,GBP&start=2026-10-25&format=csv&layout=wide`,
)

const some = (questions: readonly Question[], step: number): Question[] =>
  questions.filter((_, index) => index % step === 0)

/** All scenes. */
export const SCENES: readonly Scene[] = [
  {
    name: 'catalogue',
    world: SYNTHETIC,
    doors: ['fetch', 'answer', 'node', 'express'],
    warm: LOADED,
    questions: catalogue(),
  },
  {
    name: 'other runtimes',
    world: SYNTHETIC,
    doors: ['node', 'bun', 'deno'],
    warm: LOADED,
    questions: [...some(catalogue(), 9), ...some(rows(), 5), ...some(requests(), 7), ...EVERYTHING],
  },
  {
    name: 'pairs',
    world: DEFAULT,
    doors: ['answer'],
    warm: LOADED,
    questions: PAIRS.flatMap(([from, to], index) =>
      gets(
        `${CONVERT}?from=${from}&to=${to}&amount=${(index * 7.31 + 0.995).toFixed(3)}`,
        `${CONVERT}?from=${from}&to=${to}&amount=${index}.5&reverse=true&round=minor&date=2026-0${(index % 9) + 1}-15`,
        ...PERIODS.map((period) => `${HISTORY}?from=${from}&to=${to}&period=${period}`),
      ),
    ),
  },
  {
    name: 'every base',
    world: DEFAULT,
    doors: ['answer'],
    warm: LOADED,
    questions: gets(
      ...CODES.flatMap((code) => [
        `${LATEST}?base=${code}`,
        `/api/convert?from=${code}&to=CHF&amount=1.005`,
      ]),
    ),
  },
  { name: 'parameters', world: DEFAULT, doors: ['answer'], warm: LOADED, questions: parameters() },
  { name: 'rules', world: DEFAULT, doors: ['answer'], warm: LOADED, questions: rules() },
  { name: 'histories', world: DEFAULT, doors: ['answer'], warm: LOADED, questions: histories() },
  {
    name: 'rows',
    world: DEFAULT,
    doors: ['fetch', 'node', 'express'],
    warm: LOADED,
    questions: rows(),
  },
  {
    name: 'requests',
    world: DEFAULT,
    doors: ['fetch', 'node', 'express'],
    warm: LOADED,
    questions: requests(),
  },
  { name: 'calls', world: DEFAULT, doors: ['rates', 'client'], warm: LOADED, questions: calls() },
  {
    name: 'calls that fail',
    world: { at: FRIDAY, isUp: false },
    doors: ['rates', 'client'],
    isSequence: true,
    questions: [
      { call: ['latest'] },
      { call: ['history', { from: 'EUR', to: 'USD' }] },
      { call: ['currencies'] },
      { call: ['status'] },
    ],
  },
  ...CLOCKS.map((at): Scene => ({
    name: `at ${at}`,
    world: { at },
    doors: ['answer'],
    warm: LOADED,
    questions: EVERYTHING,
  })),
  ...Object.entries(WORLDS).map(([name, world]): Scene => ({
    name,
    world,
    doors: ['answer'],
    warm: LOADED,
    questions: [...EVERYTHING, ...(/pegged|fixed|overlay/.test(name) ? DERIVED : [])],
  })),
  ...BANKS.slice(1).map((id): Scene => ({
    name: `bank ${id}`,
    world: { at: FRIDAY, history: ['ecb', id] },
    doors: ['answer'],
    warm: [...LOADED, `${HISTORY}?from=USD&to=${BASES[id]}&start=2026-01-01&source=${id}`],
    isSequence: id === 'banca-d-italia',
    questions: [...bankQuestions([id]), ...some(EVERYTHING, 3)],
  })),
  {
    name: 'several banks',
    world: { at: FRIDAY, history: ['frankfurter', 'nbp-a', 'norges-bank', 'cnb'] },
    doors: ['answer'],
    warm: LOADED,
    isSequence: true,
    questions: [
      ...bankQuestions(['nbp-a', 'cnb']),
      ...EVERYTHING,
      ...gets(`${LATEST}?date=2026-11-20&source=nbp`),
    ],
  },
  ...compatScenes,
  ...(['all', 'off', ['https://shop.example']] as const).map((cors): Scene => ({
    name: `cors ${String(cors)}`,
    world: { ...DEFAULT, options: { cors } },
    doors: ['answer'],
    warm: LOADED,
    questions: requests(),
  })),
  {
    name: 'at the root',
    world: { ...DEFAULT, options: { basePath: '', explorer: true } },
    doors: ['fetch'],
    warm: LOADED.map((target) => target.slice(4)),
    questions: gets(
      '/',
      '/v1/latest',
      '/rates',
      '/convert?from=USD&to=EUR',
      '/api/v1/latest',
      '/v1',
      '/v2/x',
      '/explorer-api.js',
      '/v1/openapi.json',
      '//v1/latest',
    ),
  },
  {
    name: 'outage',
    world: DEFAULT,
    doors: ['answer'],
    warm: LOADED,
    isSequence: true,
    questions: outage(),
  },
  {
    name: 'doubtful rates',
    world: DEFAULT,
    doors: ['answer'],
    warm: LOADED,
    isSequence: true,
    questions: doubts(),
  },
  {
    name: 'doubtful rates and a second provider',
    world: { at: FRIDAY, latest: ['exchange-rate-api', 'fawazahmed0'], history: ['ecb'] },
    doors: ['answer'],
    warm: LOADED,
    isSequence: true,
    questions: doubts(),
  },
  { name: 'cold', world: DEFAULT, doors: ['answer'], isSequence: true, questions: EVERYTHING },
  {
    name: 'keys',
    world: { ...DEFAULT, hasAccess: true },
    doors: ['answer'],
    isSequence: true,
    questions: keys(),
  },
  {
    name: 'keys without upstreams',
    world: { ...DEFAULT, hasAccess: true, isUp: false },
    doors: ['answer'],
    isSequence: true,
    questions: some(keys(), 9),
  },
]
