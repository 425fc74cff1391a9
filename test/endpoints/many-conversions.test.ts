import * as fc from 'fast-check'
import Papa from 'papaparse'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { readRows } from '../../src/api/csv-rows.ts'
import type { HistoryProvider, RawRequest } from '../../src/index.ts'
import { createBank } from '../fixtures/bank.ts'
import { longService } from '../fixtures/long-market.ts'
import { NOW, fragileMarket, market, openService } from '../fixtures/service.ts'
import { listenersLeftBy, settled, turnsDuring } from '../virtual-runtime.ts'

const PATH = '/api/v1/convert'
const MIB = 1_048_576

type Service = Pick<ReturnType<typeof openService>, 'handler'>

interface Sent {
  type?: string | null
  query?: string
  headers?: Record<string, string>
}

/** Posts `body`, by default as JSON; returns the response with its text. */
async function post({ handler }: Service, body: BodyInit | null, sent: Sent = {}) {
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
  const text = await response.text()
  return { status: response.status, headers: response.headers, text }
}

const postRows = (service: Service, rows: unknown) => post(service, JSON.stringify(rows))

const postCsv = (service: Service, csv: string, query = '') =>
  post(service, csv, { type: 'text/csv', query })

function refusal(hint: string): string {
  return JSON.stringify({
    error: { code: 'invalid_parameter', message: `Invalid parameter: ${hint}` },
  })
}

describe('many conversions', () => {
  it('make one upstream call for each data set that they need, and one for old days', async () => {
    const calls: string[] = []
    const providers = {
      latest: {
        ...market.latest,
        fetchLatest: (context: Parameters<typeof market.latest.fetchLatest>[0]) => {
          calls.push('latest')
          return market.latest.fetchLatest(context)
        },
      },
      history: {
        ...market.history,
        fetchHistory: (...given: Parameters<HistoryProvider['fetchHistory']>) => {
          calls.push(`history since ${given[0].start}`)
          return market.history.fetchHistory(...given)
        },
      },
    }
    const latestOnly = openService({ providers })
    await postRows(latestOnly, [{ from: 'USD', to: 'EUR' }])
    expect(calls.splice(0)).toEqual(['latest'])
    const both = openService({ providers })
    const dates = ['2026-11-20', '2003-05-05', '1999-02-01', undefined]
    const rows = dates.map((date) => ({ from: 'USD', to: 'EUR', date }))
    const results = await both.handler.rates.convertMany(rows)
    expect(results.filter((row) => 'error' in row)).toEqual([])
    const old = 'history since 1999-01-04'
    expect(calls.splice(0)).toEqual(['latest', 'history since 2021-11-06', old])
    const recent = openService({ providers })
    await postRows(recent, [{ from: 'USD', to: 'EUR', date: '2026-11-10' }])
    expect(calls.splice(0)).toEqual(['history since 2021-11-06'])
    await postRows(recent, [])
    await postRows(recent, [{ from: 'USD', to: 'EUR', date: 'today' }])
    expect(calls).toEqual([])
  })

  it('fail only where the data of their row are unavailable', async () => {
    const { providers } = fragileMarket()
    const history: HistoryProvider = {
      ...providers.history,
      fetchHistory: () => Promise.reject(new Error('secret')),
    }
    const service = openService({ providers: { ...providers, history } })
    const { status, text } = await postRows(service, [
      { from: 'USD', to: 'EUR', date: '2026-11-10' },
      { from: 'USD', to: 'EUR' },
      { from: 'USD', to: 'x', date: '2026-11-10' },
    ])
    expect(status).toBe(200)
    const [dated, latest, invalid] = JSON.parse(text)
    expect(dated.error.code).toBe('provider_unavailable')
    expect(latest.result).toBeGreaterThan(0)
    expect(invalid.error.code).toBe('invalid_currency')
    expect(text).not.toContain('secret')
  })

  it.each([
    ['a list', ['USD', 'EUR'], 'row (must be an object)'],
    ['too many targets', { from: 'USD', to: Array(251).fill('EUR') }, 'to (must have at most 250'],
    ['a text for true', { from: 'USD', to: 'EUR', reverse: 'true' }, 'reverse (must be true or'],
  ])('give %s in a row the error of that row', async (_, row, message) => {
    const service = openService()
    const { status, text } = await postRows(service, [row, { from: 'USD', to: 'EUR' }])
    expect(status).toBe(200)
    const [failed, converted] = JSON.parse(text)
    expect(failed.error.code).toBe('invalid_parameter')
    expect(failed.error.message).toContain(`Invalid parameter: ${message}`)
    expect(converted.rate).toBeGreaterThan(0)
    expect(service.eventsOf('internal_error')).toEqual([])
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
    const rows = [{ from: 'USD', to: 'EUR', date: '2026-11-10' }]
    const bank = createBank({ codes: ['USD'], now: () => NOW })
    const providers = { latest: market.latest, history: [history, bank] }
    const { handler } = openService({ providers })
    const { status } = await handler.answer({
      method: 'POST',
      target: PATH,
      header: (name) => (name === 'content-type' ? 'application/json' : null),
      readBody: async (onChunk) => onChunk(new TextEncoder().encode(JSON.stringify(rows))),
      signal: client.signal,
    })
    expect(status).toBe(503)
  })

  it('reject without an array of at most 10,000', async () => {
    const { rates } = openService().handler
    const row = { from: 'USD', to: 'EUR' } as const
    const error = { name: 'RatesError', code: 'invalid_parameter' }
    for (const rows of [undefined, null, row, '[]', Array.from({ length: 10_001 }, () => row)]) {
      await expect(rates.convertMany(Object(rows))).rejects.toMatchObject(error)
    }
    expect(await rates.convertMany([])).toEqual([])
    expect(await rates.convertMany(Array.from({ length: 10_000 }, () => row))).toHaveLength(10_000)
  })

  it('let other tasks run', async () => {
    const { handler } = longService()
    const rows = Array.from({ length: 10_000 }, () => ({ from: 'USD', to: 'EUR' }) as const)
    await handler.rates.convertMany(rows)
    const { turns } = await turnsDuring(() => handler.rates.convertMany(rows))
    expect(turns).toBeGreaterThan(5)
  })
})

describe('POST /v1/convert', () => {
  const service = openService()
  const ROW = '{"from":"USD","to":"EUR"}'

  it('is not cacheable, and open to all origins', async () => {
    const { headers } = await post(service, `[${ROW}]`)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    for (const name of ['etag', 'last-modified', 'cache-status']) {
      expect([name, headers.get(name)]).toEqual([name, null])
    }
  })

  it('returns 415 where the host passes no body', async () => {
    const { status, body } = await answer({})
    expect([status, body]).toEqual([
      415,
      refusal('body (the adapter of this host passes no bodies)'),
    ])
  })

  it.each([
    ['', 'body (must not be empty)'],
    ['[', 'body (must be JSON)'],
    ['null', 'rows (must be an array of at most 10,000 conversions)'],
    [`[${Array(10_001).fill('{}').join()}]`, 'rows (must be an array of at most 10,000 conv'],
    [new Uint8Array([0x5b, 0xff, 0x5d]), 'body (must be UTF-8)'],
  ])('refuses %.9s with 400', async (body, hint) => {
    const { status, text } = await post(service, body)
    expect([status, text]).toEqual([400, expect.stringContaining(hint)])
    expect(JSON.parse(text)).toEqual({
      error: { code: 'invalid_parameter', message: expect.any(String) },
    })
  })

  it('reads an UTF-8 body with a byte order mark', async () => {
    expect((await post(service, `\u{FEFF}[${ROW}]`)).status).toBe(200)
  })

  it.each([
    ['?format=xml', 'format (must be json or csv)'],
    ['?format=csv&format=csv', 'format (given more than once)'],
  ])('refuses the query %s', async (query, hint) => {
    const { status, text } = await post(service, `[${ROW}]`, { query })
    expect([status, text]).toEqual([400, refusal(hint)])
  })

  it.each([
    [null, {}],
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['application/json; charset=utf-16', {}],
    ['application/jsonx', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
    ['application/json', { 'content-encoding': 'br' }],
  ])('refuses the type %s with %o by 415', async (type, headers) => {
    const { status, text } = await post(service, `[${ROW}]`, { type, headers })
    expect([status, JSON.parse(text).error.code]).toEqual([415, 'invalid_parameter'])
  })

  it.each(['Application/JSON', 'application/json;charset="UTF-8"', 'application/json ; x=y'])(
    'accepts the type %s',
    async (type) => {
      const headers = { 'content-encoding': 'identity' }
      expect((await post(service, `[${ROW}]`, { type, headers })).status).toBe(200)
    },
  )

  it('refuses a declared length without reading the body', async () => {
    let isRead = false
    const { status } = await answer({
      headers: { 'content-length': String(MIB + 1) },
      readBody: async () => void (isRead = true),
    })
    expect([status, isRead]).toEqual([413, false])
  })

  it('stops reading an endless body', async () => {
    let chunks = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        chunks += 1
        controller.enqueue(new Uint8Array(65_536).fill(0x20))
      },
    })
    expect((await post(service, body)).status).toBe(413)
    const read = chunks
    expect(read).toBeLessThan(25)
    await settled()
    expect(chunks).toBe(read)
  })

  interface Given extends Pick<RawRequest, 'client' | 'readBody' | 'signal' | 'unsentBytes'> {
    headers?: Record<string, string>
    from?: Service
  }

  function answer({ headers = {}, from = service, ...given }: Given) {
    const sent: Record<string, string> = { 'content-type': 'application/json', ...headers }
    const header = (name: string): string | undefined => sent[name]
    return from.handler.answer({ method: 'POST', target: PATH, header, ...given })
  }

  /** Reads one part, and then waits for the abort. */
  const drip: RawRequest['readBody'] = (onChunk, signal) =>
    new Promise((_resolve, reject) => {
      onChunk(new Uint8Array([0x5b]))
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    })

  it('keeps no part of a body: an adapter may use its memory again', async () => {
    const part = new Uint8Array(1)
    const { status } = await answer({
      async readBody(onChunk) {
        for (const byte of new TextEncoder().encode(`[${ROW}]`)) {
          part[0] = byte
          onChunk(part)
        }
      },
    })
    expect(status).toBe(200)
  })

  it('is refused while 256 MiB of other responses wait for their clients to read', async () => {
    const readBody: RawRequest['readBody'] = async (onChunk) =>
      onChunk(new TextEncoder().encode(`[${ROW}]`))
    const { status } = await answer({ readBody, unsentBytes: () => 256 * MIB + 1 })
    expect(status).toBe(503)
    expect(await answer({ readBody, unsentBytes: () => 256 * MIB })).toMatchObject({ status: 200 })
  })

  it('ends a slow upload after 10 s with 408', async () => {
    const slow = openService()
    const each = 1_999
    const readBody: RawRequest['readBody'] = (onChunk, signal) => {
      const next = (): void => {
        onChunk(new Uint8Array([0x20]))
        stop = slow.runtime.startTimer(next, each)
      }
      let stop = slow.runtime.startTimer(next, each)
      return drip(onChunk, signal).finally(() => stop())
    }
    let outcome: unknown
    const left = await listenersLeftBy(async () => {
      const responding = answer({ readBody, from: slow })
      void Promise.resolve(responding).then(({ status, body }) => (outcome = [status, body]))
      await slow.runtime.advance(9_999)
      expect(outcome).toBe(undefined)
      await slow.runtime.advance(2)
      await responding
    })
    expect(outcome).toEqual([408, refusal('body (must arrive within 10 s)')])
    expect(slow.runtime.timers()).toBe(0)
    expect(left).toBe(1)
  })

  it('ends an upload after a pause of 2 s with 408', async () => {
    const slow = openService()
    const readBody: RawRequest['readBody'] = (onChunk, signal) => {
      slow.runtime.startTimer(() => onChunk(new Uint8Array([0x20])), 1_500)
      return drip(onChunk, signal)
    }
    let outcome: unknown
    void Promise.resolve(answer({ readBody, from: slow })).then(
      ({ status, body }) => (outcome = [status, body]),
    )
    await slow.runtime.advance(3_499)
    expect(outcome).toBe(undefined)
    await slow.runtime.advance(1)
    expect(outcome).toEqual([408, refusal('body (must arrive without pauses of 2 s)')])
    expect(slow.runtime.timers()).toBe(0)
  })

  it('ends a slow upload of a fetch-style host, and does not wait for it', async () => {
    const slow = openService()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array([0x5b])),
    })
    const responding = post(slow, body)
    await slow.runtime.advance(2_000)
    expect((await responding).status).toBe(408)
    expect(slow.runtime.timers()).toBe(0)
  })

  it('ends an upload whose client disconnects, without an event', async () => {
    const quiet = openService()
    const client = new AbortController()
    const responding = answer({ readBody: drip, signal: client.signal, from: quiet })
    await settled()
    client.abort()
    expect(await responding).toMatchObject({ status: 400 })
    const broken = answer({
      readBody: () => Promise.reject(new Error('ECONNRESET')),
      from: quiet,
    })
    expect(await broken).toMatchObject({
      status: 400,
      body: refusal('body (must arrive completely)'),
    })
    expect(quiet.events.filter(({ type }) => type === 'internal_error')).toEqual([])
    expect(quiet.runtime.timers()).toBe(0)
  })

  describe('limits uploads', () => {
    const part: RawRequest['readBody'] = (onChunk, signal) => {
      onChunk(new Uint8Array(MIB - 1))
      return drip(onChunk, signal)
    }
    const whole: RawRequest['readBody'] = async (onChunk) => {
      onChunk(new TextEncoder().encode(`[${ROW}]`.padEnd(MIB)))
    }

    type Sender = Pick<Given, 'client' | 'headers'>

    /** Starts an upload of 1 MiB, which never ends, for each of `senders`. */
    async function start(senders: Sender[]) {
      const from = openService()
      const leaving = new AbortController()
      const uploads = senders.map(async (sender) =>
        answer({ readBody: part, signal: leaving.signal, from, ...sender }),
      )
      await settled()
      await settled()
      return {
        statusFor: async (sender: Sender) =>
          (await answer({ readBody: whole, from, ...sender })).status,
        async end() {
          leaving.abort()
          return (await Promise.all(uploads)).map(({ status }) => status)
        },
      }
    }

    it('to 32 MiB in total, and takes others after them', async () => {
      const other = { client: '192.0.2.99' }
      const senders = Array.from({ length: 40 }, (_, index) => ({
        client: `192.0.2.${index % 10}`,
      }))
      const { statusFor, end } = await start(senders)
      expect(await statusFor(other)).toBe(503)
      expect((await end()).filter((status) => status === 503)).toHaveLength(8)
      expect(await statusFor(other)).toBe(200)
    })

    /** What a proxy at `client` sends for the client at `address`, which sent another address itself. */
    const forwarded = (client: string, address: string): Sender => ({
      client,
      headers: { 'x-forwarded-for': `203.0.113.9, ${address}` },
    })

    it.each([
      ['of one address', { client: '192.0.2.1' }, { client: '192.0.2.2' }],
      [
        'behind a proxy',
        forwarded('::ffff:10.0.0.1', '192.0.2.1'),
        forwarded('10.0.0.1', '192.0.2.2'),
      ],
      ['without a proxy', forwarded('192.0.2.1', '192.0.2.9'), { client: '192.0.2.2' }],
      ['of one IPv6 network', { client: '2001:db8::1:2:3:4' }, { client: '2001:db8:0:2::1' }],
      ['of another', { client: '2001:db8:0:0:5::' }, { client: '2001:db8:1::1' }],
    ])('to 4 MiB of one client, %s', async (_, sender, other) => {
      const sent = Array.from({ length: 40 }, (_value, index) =>
        sender.client?.startsWith('2001') ? { client: `2001:db8::${index}` } : sender,
      )
      const { statusFor, end } = await start(sent)
      expect(await statusFor(sender)).toBe(503)
      expect(await statusFor(other)).toBe(200)
      expect((await end()).filter((status) => status === 400)).toHaveLength(4)
      expect(await statusFor(sender)).toBe(200)
    })

    it('also of a host whose requests are instances of a class', async () => {
      const headers = { 'content-type': 'application/json' }
      const given = { method: 'POST', headers, body: `[${ROW}]` }
      const request = new Request(`http://localhost${PATH}`, given)
      const response: Response = await Reflect.apply(openService().handler, undefined, [
        request,
        { client: '127.0.0.1' },
      ])
      expect(response.status).toBe(200)
    })

    it('only in total where the host knows no addresses', async () => {
      const { statusFor, end } = await start(Array.from({ length: 20 }, () => ({})))
      expect(await statusFor({})).toBe(200)
      expect((await end()).filter((status) => status === 400)).toHaveLength(20)
    })
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
    const { status, text } = await post(service, body)
    expect(parse).not.toHaveBeenCalled()
    expect([status, text]).toEqual([400, refusal(hint)])
  })

  it('takes rows of 250 targets and any text', async () => {
    const codes = Array.from({ length: 250 }, () => 'EUR')
    const rows = Array.from({ length: 20 }, () => ({ from: 'USD', to: codes, amount: 1 }))
    const { text } = await postRows(service, [...rows, '[[,"\\'.repeat(9_999), '[{,'])
    const results: object[] = JSON.parse(text)
    expect(results.map((each) => 'error' in each)).toEqual([...rows.map(() => false), true, true])
  })

  it('reads a body of commas or of empty lines in parts', async () => {
    const split = vi.spyOn(String.prototype, 'split')
    onTestFinished(() => split.mockRestore())
    await postCsv(service, ','.repeat(MIB - 1))
    await postCsv(service, `from,to,amount\n${','.repeat(MIB - 100)}`)
    const cells = split.mock.results.map(({ value }) => value.length)
    split.mockRestore()
    expect(Math.max(...cells)).toBeLessThan(65_600)
    const lines = `from,to,amount\n${'\n'.repeat(100_000)}USD,EUR,1`
    expect([...readRows(lines)]).toHaveLength(200)
  })
})

describe('conversions in CSV', () => {
  const service = openService()
  const HEAD =
    'from,to,amount,rate,result,reverse,date,asked,rule,updatedAt,source,sourceUrl,error,message'

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
    const { status, headers, text } = await postCsv(service, csv)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(text.split('\r\n')[0]).toBe(HEAD)
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
    const asJson = await post(service, csv, { type: 'text/csv', query: '?format=json' })
    const { text } = await postRows(service, rows)
    expect(asJson.text).toBe(text)
    const ofJson = await post(service, JSON.stringify(rows), { query: '?format=csv' })
    expect(ofJson.text).toBe((await postCsv(service, csv)).text)
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
    const { status, text } = await postCsv(service, csv)
    expect([status, text]).toEqual([400, expect.stringContaining(hint)])
  })

  it('never quote a cell as a formula', async () => {
    const cell = fc
      .tuple(fc.constantFrom('=', '+', '-', '@', '\t', '\r', '"'), fc.string({ maxLength: 9 }))
      .map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell, cell, cell), { minLength: 1 }),
        async (cells) => {
          const csv = Papa.unparse([['from', 'to', 'amount', 'date'], ...cells])
          const { status, text } = await postCsv(service, csv)
          expect(status).toBe(200)
          const { data, errors } = Papa.parse<string[]>(text.trimEnd())
          expect(errors.filter(({ type }) => type !== 'Delimiter')).toEqual([])
          expect(data.flat().filter((each) => /^[=+@\t\r-]/.test(each))).toEqual([])
        },
      ),
      { seed: 22, numRuns: 60 },
    )
  })

  it('or JSON of any text have one of few statuses, and no unforeseen error', async () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.object()).map((rows) => JSON.stringify(rows)),
      fc.string().map((text) => `from,to,amount\n${text}`),
      fc.array(fc.record({ from: fc.anything(), to: fc.anything() })).map(toJson),
    )
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom('text/csv', 'application/json'), async (...sent) => {
        const [text, type] = sent
        const { status } = await post(service, text, { type })
        expect([200, 400]).toContain(status)
      }),
      { seed: 22, numRuns: 400 },
    )
    expect(service.eventsOf('internal_error')).toEqual([])
  })
})

/** Leaves out what JSON lacks. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'bigint' ? String(each) : each,
  )
}
