import * as fc from 'fast-check'
import Papa from 'papaparse'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import type { HistoryProvider, RawRequest } from '../../src/index.ts'
import { createBank } from '../fixtures/bank.ts'
import { longService } from '../fixtures/long-market.ts'
import { NOW, market, openService } from '../fixtures/service.ts'
import { listenersLeftBy, settled, turnsDuring } from '../virtual-runtime.ts'

const PATH = '/api/v1/convert'
const MIB = 1_048_576
const ROW = '{"from":"USD","to":"EUR"}'

type Service = Pick<ReturnType<typeof openService>, 'handler'>

/** For tests that only read. */
const service = openService()

interface Sent {
  type?: string | null
  query?: string
  headers?: Record<string, string>
}

/** Posts `body`, by default as JSON; returns the response with its text. */
async function post(body: BodyInit | null, sent: Sent = {}, { handler }: Service = service) {
  const { type = 'application/json', query = '', headers = {} } = sent
  const request = new Request(`http://localhost${PATH}${query}`, {
    method: 'POST',
    body,
    headers: { ...headers, ...(type !== null && { 'content-type': type }) },
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })
  // `Request` adds a type to a text.
  if (type === null) request.headers.delete('content-type')
  const response = await handler(request)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const postRows = (rows: unknown, to?: Service) => post(JSON.stringify(rows), {}, to)

const postCsv = (csv: string, query = '') => post(csv, { type: 'text/csv', query })

function refusal(hint: string): string {
  const message = `Invalid parameter: ${hint}`
  return JSON.stringify({ error: { code: 'invalid_parameter', message } })
}

interface Given extends Pick<RawRequest, 'client' | 'readBody' | 'signal' | 'unsentBytes'> {
  headers?: Record<string, string>
  from?: Service
}

/** Sends a request of a host that is not fetch-style. */
function answer({ headers = {}, from = service, ...given }: Given) {
  const sent: Record<string, string> = { 'content-type': 'application/json', ...headers }
  const header = (name: string): string | undefined => sent[name]
  return from.handler.answer({ method: 'POST', target: PATH, header, ...given })
}

/** Returns a body in one part. */
const whole =
  (text: string): RawRequest['readBody'] =>
  async (onChunk) =>
    onChunk(new TextEncoder().encode(text))

describe('many conversions', () => {
  it('make one upstream call for each data set that they need, and one for old days', async () => {
    const calls: string[] = []
    const latest: typeof market.latest = {
      ...market.latest,
      fetchLatest: (context) => (calls.push('latest'), market.latest.fetchLatest(context)),
    }
    const history: HistoryProvider = {
      ...market.history,
      fetchHistory: (...given) => (
        calls.push(`since ${given[0].start}`),
        market.history.fetchHistory(...given)
      ),
    }
    const open = () => openService({ providers: { latest, history } })
    const rowsOf = (...dates: unknown[]) => dates.map((date) => ({ from: 'USD', to: 'EUR', date }))
    await postRows(rowsOf(undefined), open())
    expect(calls.splice(0)).toEqual(['latest'])
    const { text } = await postRows(
      rowsOf('2026-11-20', '2003-05-05', '1999-02-01', undefined),
      open(),
    )
    expect(text).not.toContain('error')
    expect(calls.splice(0)).toEqual(['latest', 'since 2021-11-06', 'since 1999-01-04'])
    const recent = open()
    await postRows(rowsOf('2026-11-10'), recent)
    expect(calls.splice(0)).toEqual(['since 2021-11-06'])
    await postRows([], recent)
    await postRows(rowsOf('today'), recent)
    expect(calls).toEqual([])
  })

  it('fail only where the row is wrong, or its data are unavailable', async () => {
    const fetchHistory = () => Promise.reject(new Error('secret'))
    const opened = openService({
      providers: { ...market, history: { ...market.history, fetchHistory } },
    })
    const { status, text } = await postRows(
      [
        { from: 'USD', to: 'EUR', date: '2026-11-10' },
        { from: 'USD', to: 'x', date: '2026-11-10' },
        ['USD', 'EUR'],
        { from: 'USD', to: Array(251).fill('EUR') },
        { from: 'USD', to: 'EUR', reverse: 'true' },
        '[[,"\\',
        { from: 'USD', to: 'EUR' },
      ],
      opened,
    )
    const results: { result?: number; error?: { code: string; message: string } }[] =
      JSON.parse(text)
    expect(status).toBe(200)
    expect(results.map(({ error, result = 0 }) => error?.message ?? result > 0)).toEqual([
      'The exchange-rate provider is unavailable. Please retry shortly.',
      'Invalid to currency: x (must be three letters, such as EUR)',
      'Invalid parameter: row (must be an object)',
      'Invalid parameter: to (must have at most 250 codes and 2048 characters)',
      'Invalid parameter: reverse (must be true or false)',
      'Invalid parameter: row (must be an object)',
      true,
    ])
    expect(opened.eventsOf('internal_error')).toEqual([])
  })

  it.each([
    [10, 0],
    [0, 10],
  ])('of the same day are each as old as their maxAge allows: %d, %d', async (...ages) => {
    const rows = ages.map((maxAge) => ({ from: 'USD', to: 'EUR', date: '2024-06-30', maxAge }))
    const results = await longService().handler.rates.convertMany(rows)
    expect(results.map((row) => ('error' in row ? row.error.code : row.date))).toEqual(
      ages.map((maxAge) => (maxAge === 0 ? 'no_data' : '2024-06-28')),
    )
  })

  it('end when the client disconnects', async () => {
    const client = new AbortController()
    const history: HistoryProvider = {
      ...market.history,
      fetchHistory(...given) {
        client.abort()
        return market.history.fetchHistory(...given)
      },
    }
    const bank = createBank({ codes: ['USD'], now: () => NOW })
    const from = openService({ providers: { ...market, history: [history, bank] } })
    const readBody = whole('[{"from":"USD","to":"EUR","date":"2026-11-10"}]')
    expect(await answer({ readBody, signal: client.signal, from })).toMatchObject({ status: 503 })
    // Between two slices of rows in memory, too: the clock is read for every 32 rows.
    const leaving = new AbortController()
    const { runtime, handler } = openService()
    await handler.refresh()
    const clock = vi.spyOn(runtime, 'monotonic').mockImplementation(() => {
      if (clock.mock.calls.length === 50) leaving.abort()
      return 0
    })
    const many = whole(
      JSON.stringify(Array.from({ length: 10_000 }, () => ({ from: 'USD', to: 'EUR' }))),
    )
    await answer({ readBody: many, signal: leaving.signal, from: { handler } })
    await settled()
    expect(clock.mock.calls.length).toBeGreaterThanOrEqual(50)
    expect(clock.mock.calls.length).toBeLessThan(150)
  })

  it('reject without an array of at most 10,000, and let other tasks run', async () => {
    const { rates } = longService().handler
    const row = { from: 'USD', to: 'EUR' } as const
    const rowsOf = (length: number) => Array.from({ length }, () => row)
    const error = { name: 'RatesError', code: 'invalid_parameter' }
    for (const rows of [undefined, null, row, '[]', rowsOf(10_001)]) {
      await expect(rates.convertMany(Object(rows))).rejects.toMatchObject(error)
    }
    expect(await rates.convertMany([])).toEqual([])
    const { result, turns } = await turnsDuring(() => rates.convertMany(rowsOf(10_000)))
    expect(result).toHaveLength(10_000)
    expect(turns).toBeGreaterThan(5)
  })
})

describe('POST /v1/convert', () => {
  it('is not cacheable', async () => {
    const { headers } = await post(`\u{FEFF}[${ROW}]`)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    for (const name of ['etag', 'last-modified', 'cache-status']) {
      expect([name, headers.get(name)]).toEqual([name, null])
    }
  })

  it.each<[body: string | Uint8Array<ArrayBuffer>, hint: string]>([
    ['', 'body (must not be empty)'],
    ['[', 'body (must be JSON)'],
    ['null', 'rows (must be an array of at most 10,000 conversions)'],
    [
      `[${Array(10_001).fill('{}').join()}]`,
      'rows (must be an array of at most 10,000 conversions)',
    ],
    [new Uint8Array([0x5b, 0xff, 0x5d]), 'body (must be UTF-8)'],
  ])('refuses %.9s with 400', async (body, hint) => {
    expect(await post(body)).toMatchObject({ status: 400, text: refusal(hint) })
  })

  it.each([
    ['?format=xml', 'format (must be json or csv)'],
    ['?format=csv&format=csv', 'format (given more than once)'],
  ])('refuses the query %s', async (query, hint) => {
    expect(await post(`[${ROW}]`, { query })).toMatchObject({ status: 400, text: refusal(hint) })
  })

  it.each([
    [null, '', 415],
    ['text/plain', '', 415],
    ['application/x-www-form-urlencoded', '', 415],
    ['application/json; charset=utf-16', '', 415],
    ['application/jsonx', '', 415],
    ['application/json', 'gzip', 415],
    ['application/json', 'br', 415],
    ['Application/JSON', 'identity', 200],
    ['application/json;charset="UTF-8"', 'Identity', 200],
    ['application/json ; x=y', '', 200],
  ])('of the type %s with the coding "%s" is a %d', async (type, coding, status) => {
    const headers = { 'content-encoding': coding }
    expect((await post(`[${ROW}]`, { type, headers })).status).toBe(status)
  })

  it('returns 415 where the host passes no body, and 413 for a declared length without reading', async () => {
    const body = refusal('body (the adapter of this host passes no bodies)')
    expect(await answer({})).toMatchObject({ status: 415, body })
    const readBody = vi.fn<NonNullable<RawRequest['readBody']>>()
    const headers = { 'content-length': String(MIB + 1) }
    expect(await answer({ headers, readBody })).toMatchObject({ status: 413 })
    expect(readBody).not.toHaveBeenCalled()
  })

  it('stops reading an endless body', async () => {
    let chunks = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        chunks += 1
        controller.enqueue(new Uint8Array(65_536).fill(0x20))
      },
    })
    expect((await post(body)).status).toBe(413)
    const read = chunks
    expect(read).toBeLessThan(25)
    await settled()
    expect(chunks).toBe(read)
  })

  it('keeps no part of a body: an adapter may use its memory again', async () => {
    const part = new Uint8Array(1)
    const readBody: RawRequest['readBody'] = async (onChunk) => {
      for (const byte of new TextEncoder().encode(`[${ROW}]`)) onChunk(part.fill(byte))
    }
    expect(await answer({ readBody })).toMatchObject({ status: 200 })
  })

  it('is refused while 256 MiB of other responses wait for their clients to read', async () => {
    const statusWith = async (bytes: number) =>
      (await answer({ readBody: whole(`[${ROW}]`), unsentBytes: () => bytes })).status
    expect([await statusWith(256 * MIB), await statusWith(256 * MIB + 1)]).toEqual([200, 503])
  })

  it.each([
    ['['.repeat(MIB), 'body (must have at most 64 levels of brackets)'],
    ['{"a":'.repeat(200_000), 'body (must have at most 64 levels of brackets)'],
    [`[${'"a",'.repeat(262_000)}1]`, 'rows (must be an array of at most 10,000 conversions)'],
    [`[[${'"a",'.repeat(262_000)}1]]`, 'body (must have at most 1000 values in a row)'],
    [`[{${'"a":1,'.repeat(170_000)}"a":1}]`, 'body (must have at most 1000 values in a row)'],
  ])('refuses a body of 1 MiB before it is parsed: %.9s', async (body, hint) => {
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    const { status, text } = await post(body)
    expect(parse).not.toHaveBeenCalled()
    expect([status, text]).toEqual([400, refusal(hint)])
  })

  it('takes rows of 250 targets and any text', async () => {
    const row = { from: 'USD', to: Array(250).fill('EUR'), amount: 1 }
    const { text } = await postRows([
      ...Array.from({ length: 20 }, () => row),
      '[[,"\\'.repeat(9_999),
      '[{,',
    ])
    const results: object[] = JSON.parse(text)
    expect(results.map((each) => 'error' in each)).toEqual([...Array(20).fill(false), true, true])
  })

  it('reads a body of commas or of empty lines in parts', async () => {
    const split = vi.spyOn(String.prototype, 'split')
    onTestFinished(() => split.mockRestore())
    await postCsv(','.repeat(MIB - 1))
    await postCsv(`from,to,amount\n${','.repeat(MIB - 100)}`)
    const cells = split.mock.results.map(({ value }) => value.length)
    split.mockRestore()
    expect(Math.max(...cells)).toBeLessThan(65_600)
    const lines = `from,to,amount\n${'\n'.repeat(100_000)}USD,EUR,1`
    const { result, turns } = await turnsDuring(() =>
      post(lines, { type: 'text/csv', query: '?format=json' }, longService()),
    )
    expect(JSON.parse(result.text)).toHaveLength(1)
    expect(turns).toBeGreaterThan(5)
  })
})

describe('an upload', () => {
  /** Reads one part, and then waits for the abort. */
  const drip: NonNullable<RawRequest['readBody']> = (onChunk, signal) =>
    new Promise((_resolve, reject) => {
      onChunk(new Uint8Array([0x5b]))
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    })

  it.each([
    ['after 10 s', Infinity, 1_999, 10_001, 'body (must arrive within 10 s)'],
    ['after a pause of 2 s', 1, 1_500, 3_500, 'body (must arrive without pauses of 2 s)'],
  ])('that is slow ends with 408 %s', async (_, parts, interval, end, hint) => {
    const slow = openService()
    const readBody: RawRequest['readBody'] = (onChunk, signal) => {
      let left = parts
      const next = (): void => {
        onChunk(new Uint8Array([0x20]))
        left -= 1
        if (left > 0) stop = slow.runtime.startTimer(next, interval)
      }
      let stop = slow.runtime.startTimer(next, interval)
      return Promise.resolve(drip(onChunk, signal)).finally(() => stop())
    }
    let outcome: unknown
    const left = await listenersLeftBy(async () => {
      const responding = Promise.resolve(answer({ readBody, from: slow }))
      void responding.then(({ status, body }) => (outcome = [status, body]))
      await slow.runtime.advance(end - 2)
      expect(outcome).toBe(undefined)
      await slow.runtime.advance(2)
      await responding
    })
    expect(outcome).toEqual([408, refusal(hint)])
    expect([slow.runtime.timers(), left]).toEqual([0, 1])
  })

  it('of a fetch-style host that is slow ends, and is not waited for', async () => {
    const slow = openService()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array([0x5b])),
    })
    const responding = post(body, {}, slow)
    await slow.runtime.advance(2_000)
    expect((await responding).status).toBe(408)
    expect(slow.runtime.timers()).toBe(0)
  })

  it('whose client disconnects ends without an event', async () => {
    const from = openService()
    const client = new AbortController()
    const responding = answer({ readBody: drip, signal: client.signal, from })
    await settled()
    client.abort()
    expect(await responding).toMatchObject({ status: 400 })
    const readBody = () => Promise.reject(new Error('ECONNRESET'))
    const body = refusal('body (must arrive completely)')
    expect(await answer({ readBody, from })).toMatchObject({ status: 400, body })
    expect(from.eventsOf('internal_error')).toEqual([])
    expect(from.runtime.timers()).toBe(0)
  })

  type Sender = Pick<Given, 'client' | 'headers'>

  /** Starts an upload of 1 MiB, which never ends, for each of `senders`. */
  async function start(senders: Sender[]) {
    const from = openService()
    const leaving = new AbortController()
    const part: RawRequest['readBody'] = (onChunk, signal) => {
      onChunk(new Uint8Array(MIB - 1))
      return drip(onChunk, signal)
    }
    const uploads = senders.map(async (sender) =>
      answer({ readBody: part, signal: leaving.signal, from, ...sender }),
    )
    await settled()
    await settled()
    const readBody = whole(`[${ROW}]`.padEnd(MIB))
    return {
      statusFor: async (sender: Sender) => (await answer({ readBody, from, ...sender })).status,
      /** Ends all, and returns how many were not refused. */
      async end() {
        leaving.abort()
        return (await Promise.all(uploads)).filter(({ status }) => status === 400).length
      },
    }
  }

  it('is one of at most 32 MiB in total, and others are taken after them', async () => {
    const other = { client: '192.0.2.99' }
    const senders = Array.from({ length: 40 }, (_, at) => ({ client: `192.0.2.${at % 10}` }))
    const { statusFor, end } = await start(senders)
    expect([await statusFor(other), await end(), await statusFor(other)]).toEqual([503, 32, 200])
  })

  /** What a proxy at `client` sends for the client at `address`, which sent another address itself. */
  const forwarded = (client: string, address: string): Sender => ({
    client,
    headers: { 'x-forwarded-for': `203.0.113.9, ${address}` },
  })

  it.each<[string, Sender, Sender]>([
    ['of one address', { client: '192.0.2.1' }, { client: '192.0.2.2' }],
    [
      'behind a proxy',
      forwarded('::ffff:10.0.0.1', '192.0.2.1'),
      forwarded('10.0.0.1', '192.0.2.2'),
    ],
    ['without a proxy', forwarded('192.0.2.1', '192.0.2.9'), { client: '192.0.2.2' }],
    ['of one IPv6 network', { client: '2001:db8::1:2:3:4' }, { client: '2001:db8:0:2::1' }],
    ['of another', { client: '2001:db8:0:0:5::' }, { client: '2001:db8:1::1' }],
  ])('is one of at most 4 MiB of one client, %s', async (_, sender, other) => {
    const isWide = sender.client?.startsWith('2001')
    const sent = Array.from({ length: 40 }, (_value, at) =>
      isWide ? { client: `2001:db8::${at}` } : sender,
    )
    const { statusFor, end } = await start(sent)
    expect([await statusFor(sender), await statusFor(other)]).toEqual([503, 200])
    expect([await end(), await statusFor(sender)]).toEqual([4, 200])
  })

  it('counts only in total where the host knows no addresses', async () => {
    const { statusFor, end } = await start(Array.from({ length: 20 }, () => ({})))
    expect([await statusFor({}), await end()]).toEqual([200, 20])
  })
})

describe('conversions in CSV', () => {
  it('have a line for each row', async () => {
    const csv = [
      '\u{FEFF}sep=;',
      '"from"; To ;AMOUNT;date;rule;reverse;maxAge;account;note',
      'USD;EUR;"100";2020-02-29;exact;;;;a',
      ' USD ; " EUR " ;100;2020-02-29;on-or-before;FALSE;3;;"b;c"',
      'usd;eur;-1e2;2020-02-28;;TRUE;;;',
      '',
      'USD;EUR;12,50;2020-02-28;;;;;',
      'USD;EUR;;2020-02-28;;;;;',
      'USD;;1;2020-02-28;;;;;',
      'USD;EUR,GBP;1;2020-02-28;;;;;',
      'USD;EUR;1;;;;;;',
      'USD;EUR;1;2020-02-28;;yes;;;',
      'USD;EUR;1;2020-02-29;;;-1;;',
      'USD;EUR',
      '',
    ].join('\r\n')
    const { status, headers, text } = await postCsv(csv)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(text.split('\r\n')[0]).toBe(
      'from,to,amount,rate,result,reverse,date,asked,rule,updatedAt,source,sourceUrl,error,message',
    )
    const { data } = Papa.parse<Record<string, string>>(text.trimEnd(), { header: true })
    const [, dated, reversed] = data
    expect(dated).toMatchObject({ date: '2020-02-28', asked: '2020-02-29', rule: 'on-or-before' })
    expect(reversed).toMatchObject({ from: 'USD', amount: '-100', reverse: 'true' })
    expect(Number(reversed?.['result'])).toBeLessThan(-50)
    expect(data.map(({ message, result }) => message || result !== '')).toEqual([
      expect.stringContaining('No reference rates for 2020-02-29'),
      true,
      true,
      expect.stringContaining('Invalid amount: 12,50'),
      expect.stringContaining('Invalid amount: '),
      'Missing required parameter: to',
      'Invalid parameter: to (must be one code; CSV has a line per row)',
      'Invalid parameter: date (must be YYYY-MM-DD)',
      'Invalid parameter: reverse (must be true or false)',
      expect.stringContaining('Invalid parameter: maxAge (must be a whole number'),
      'Invalid parameter: row (has 2 cells, expected 9)',
    ])
  })

  it('have the values of the JSON', async () => {
    const rows = [
      { from: 'USD', to: 'EUR', amount: 12.5, date: '2020-02-29', rule: 'next' },
      { from: 'GBP', to: 'JPY', amount: -1, date: '2020-02-28' },
    ]
    const csv = Papa.unparse(rows, { columns: ['from', 'to', 'amount', 'date', 'rule'] })
    expect((await postCsv(csv, '?format=json')).text).toBe((await postRows(rows)).text)
    const ofJson = await post(JSON.stringify(rows), { query: '?format=csv' })
    expect(ofJson.text).toBe((await postCsv(csv)).text)
  })

  it.each([
    ['from,to,amount\n"USD,EUR', 'csv (line 2 has an unclosed quote)'],
    ['from,to,amount\nU"SD,EUR', 'csv (line 2 has a quote inside a cell; expected it around'],
    ['to,amount\nEUR,1', 'csv (the first line must name the column from)'],
    ['from,to\nUSD,EUR', 'csv (the first line must name the column amount)'],
    ['From,from,to,amount\nUSD,EUR,EUR,1', 'from (given more than once)'],
    ['sep=;\n', 'csv (the first line must name the column from)'],
    ['from,to,amount\r', 'rows (must be one or more lines below the header)'],
    [`from,to,amount${',x'.repeat(998)}\n`, 'csv (line 1 has more than 1000 cells)'],
    [`from,to,amount\n${',x'.repeat(1_000)}\n`, 'csv (line 2 has more than 1000 cells)'],
    [`from,to,amount\n${'USD,EUR,1\n'.repeat(10_001)}`, 'rows (must be an array of at most 10,000'],
  ])('are refused for %.20j', async (csv, hint) => {
    const text = expect.stringContaining(hint)
    expect(await postCsv(csv)).toMatchObject({ status: 400, text })
  })

  it('never quote a cell as a formula', async () => {
    const cell = fc
      .tuple(fc.constantFrom('=', '+', '-', '@', '\t', '\r', '"'), fc.string({ maxLength: 9 }))
      .map((parts) => parts.join(''))
    const rows = fc.array(fc.tuple(cell, cell, cell, cell), { minLength: 1 })
    const property = fc.asyncProperty(rows, async (cells) => {
      const { status, text } = await postCsv(
        Papa.unparse([['from', 'to', 'amount', 'date'], ...cells]),
      )
      const { data, errors } = Papa.parse<string[]>(text.trimEnd())
      expect([status, errors.filter(({ type }) => type !== 'Delimiter')]).toEqual([200, []])
      expect(data.flat().filter((each) => /^[=+@\t\r-]/.test(each))).toEqual([])
    })
    await fc.assert(property, { seed: 22, numRuns: 60 })
  })

  it('or JSON of any text have one of few statuses, and no unforeseen error', async () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.object()).map((rows) => JSON.stringify(rows)),
      fc.string().map((text) => `from,to,amount\n${text}`),
      fc
        .array(fc.record({ from: fc.jsonValue(), to: fc.jsonValue() }))
        .map((rows) => JSON.stringify(rows)),
    )
    const types = fc.constantFrom('text/csv', 'application/json')
    const property = fc.asyncProperty(texts, types, async (text, type) => {
      expect([200, 400]).toContain((await post(text, { type })).status)
    })
    await fc.assert(property, { seed: 22, numRuns: 300 })
    expect(service.eventsOf('internal_error')).toEqual([])
  })
})
