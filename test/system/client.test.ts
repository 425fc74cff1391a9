import type { IncomingMessage } from 'node:http'

import { expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { describeRuntimes, listen, run } from './processes.ts'

const PAIR = { from: 'USD', to: 'EUR' }

const CALLS: [name: string, params: object][] = [
  ['latest', { symbols: ['EUR', 'USD'] }],
  ['latest', { symbols: ['EUR', 'USD'] }],
  ['convert', { ...PAIR, amount: 100 }],
  ['history', PAIR],
  ['convert', { from: 'USD', to: ['EUR'], reverse: true }],
  ['latest', { symbols: ['EUR'], date: '2020-02-29' }],
  ['history', { ...PAIR, start: '1999-01-04', interval: 'month' }],
  ['currencies', {}],
]

describeRuntimes('the client', ([, program, ...parameters]) => {
  it('gets every kind of response from a server', async () => {
    const handler = createRatesHandler({ providers: fakeProviders() })
    const listener = toNodeHandler(handler)
    const received: string[] = []
    const { url } = await listen((request, response) => {
      if (request.url?.startsWith('/hanging')) return
      if (request.url?.startsWith('/broken')) {
        request.socket.destroy()
        return
      }
      response.on('finish', () => received.push(`${request.url} ${response.statusCode}`))
      if (received.length > 0) listener(request, response)
      else response.writeHead(502, { 'retry-after': '0' }).end('<!doctype html>')
    })
    const args = [
      ...parameters,
      'test/system/client-program.ts',
      `${url}/api`,
      JSON.stringify(CALLS),
    ]
    const env = { NO_PROXY: '127.0.0.1', DENO_NO_UPDATE_CHECK: '1' }
    const { stdout, stderr } = await run(program, args, { env })
    expect(stdout, stderr).toMatch(/^\{.+\}$/)
    expect(JSON.parse(stdout)).toEqual({
      responses: await Promise.all(
        CALLS.map(async ([name, params]) => Reflect.get(handler.rates, name)(params)),
      ),
      rejection: 'invalid_currency',
      isOneClass: true,
      abort: 'TimeoutError',
      cutOff: 'provider_unavailable',
      inProcess: 1,
    })
    expect(received).toEqual([
      '/api/v1/latest?symbols=EUR%2CUSD 502',
      '/api/v1/latest?symbols=EUR%2CUSD 200',
      '/api/v1/latest?symbols=EUR%2CUSD 304',
      '/api/v1/convert?from=USD&to=EUR&amount=100 200',
      '/api/v1/history?from=USD&to=EUR 200',
      '/api/v1/convert?from=USD&to=EUR%2C&reverse=true 200',
      '/api/v1/latest?symbols=EUR&date=2020-02-29 200',
      '/api/v1/history?from=USD&to=EUR&start=1999-01-04&interval=month 200',
      '/api/v1/currencies 200',
      '/api/v1/convert?from=USD&to=XYZ 400',
    ])
  })

  it('sends its key after a redirect to the same origin, and to no other', async () => {
    const received: string[] = []
    const record = (place: string, { url = '', headers }: IncomingMessage): void => {
      received.push(`${place} ${url.slice(0, 6)} ${headers.authorization ?? 'none'}`)
    }
    const other = await listen((request, response) => {
      record('other', request)
      response.writeHead(404).end()
    })
    const { url } = await listen((request, response) => {
      record('own', request)
      const isLeaving = request.url?.startsWith('/leave')
      const location = isLeaving ? `${other.url}/other/` : '/moved/'
      if (request.url?.startsWith('/moved')) response.writeHead(404).end()
      else response.writeHead(307, { location }).end()
    })
    const args = [...parameters, 'test/system/redirect-program.ts', 'rsk_planted']
    const env = { NO_PROXY: '127.0.0.1', DENO_NO_UPDATE_CHECK: '1' }
    const { stdout, stderr } = await run(program, [...args, `${url}/stay`, `${url}/leave`], { env })
    expect(stdout, stderr).toBe('["internal_error","internal_error"]')
    expect(stderr).not.toContain('rsk_planted')
    expect(received).toEqual([
      'own /stay/ Bearer rsk_planted',
      'own /moved Bearer rsk_planted',
      'own /leave Bearer rsk_planted',
      'other /other none',
    ])
  })
})

it('aborts reading a response body after its request was garbage-collected', async () => {
  const args = ['--expose-gc', 'test/system/abort-program.ts']
  const { stdout, stderr } = await run(process.execPath, args)
  expect(stdout, stderr).toBe(JSON.stringify(['AbortError', 'done']))
})
