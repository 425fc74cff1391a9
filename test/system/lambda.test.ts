import { mountContract } from 'ratesmith/testing'
import { describe, expect, it } from 'vitest'

import { handler, toResult } from '../../examples/lambda.ts'

/**
 * An event as a function URL sends it, but for what differs from one request to the next.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
 */
function event(method: string, target: string, headers: Record<string, string> = {}) {
  const [rawPath = '', rawQueryString = ''] = target.split('?')
  const host = 'abcdefghij.lambda-url.eu-central-1.on.aws'
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    headers: { host, 'x-forwarded-port': '443', 'x-forwarded-proto': 'https', ...headers },
    ...(rawQueryString === ''
      ? {}
      : { queryStringParameters: Object.fromEntries(new URLSearchParams(rawQueryString)) }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abcdefghij',
      domainName: host,
      domainPrefix: 'abcdefghij',
      http: {
        method,
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: '203.0.113.7',
        userAgent: 'curl',
      },
      requestId: '3f1c6f0a-7f0e-4a53-9a2b-6b8d7c1f2e34',
      routeKey: '$default',
      stage: '$default',
      time: '20/Nov/2026:18:00:00 +0000',
      timeEpoch: 1_795_197_600_000,
    },
    isBase64Encoded: false,
  }
}

const LATEST = '/api/v1/latest?base=EUR'

/** Asks the function as its URL does. */
async function overFunction({ url, method, headers }: Request): Promise<Response> {
  const { pathname, search } = new URL(url)
  const asked = event(method, pathname + search, Object.fromEntries(headers))
  const { statusCode: status, headers: told, body } = await handler(asked)
  return new Response(body === '' ? null : body, { status, headers: told })
}

describe('the function', () => {
  const mount = { url: 'http://localhost/api', fetch: overFunction }
  it.each(mountContract(() => mount))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  it('answers as the handler does', async () => {
    const { statusCode, headers, body, isBase64Encoded } = await handler(event('GET', LATEST))
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
    })
    expect(isBase64Encoded).toBe(false)
    expect(JSON.parse(body)).toMatchObject({ base: 'EUR', rates: { USD: expect.any(Number) } })
  })

  it('answers without a query', async () => {
    const { body } = await handler(event('GET', '/api/v1/latest'))
    expect(JSON.parse(body)).toMatchObject({ base: 'USD' })
  })

  it('answers HEAD like GET, without a body', async () => {
    const [got, head] = [await handler(event('GET', LATEST)), await handler(event('HEAD', LATEST))]
    expect(head.body).toBe('')
    expect(head.statusCode).toBe(200)
    expect(head.headers['etag']).toBe(got.headers['etag'])
  })

  it('says so when nothing has changed', async () => {
    const { etag = '' } = (await handler(event('GET', LATEST))).headers
    const again = await handler(event('GET', LATEST, { 'if-none-match': etag }))
    expect(again).toMatchObject({ statusCode: 304, body: '', headers: { etag } })
  })

  it.each([
    ['GET', '/', 404, 'not_found'],
    ['GET', '/api/v1/none?base=EUR', 404, 'not_found'],
    ['GET', '/api/v1/latest?base=EUR&base=USD', 400, 'invalid_parameter'],
    ['POST', '/api/v1/latest', 405, 'method_not_allowed'],
  ])('refuses %s %s with %d', async (method, target, status, code) => {
    const { statusCode, headers, body } = await handler(event(method, target))
    expect(statusCode).toBe(status)
    expect(headers['cache-control']).toBe('no-store')
    expect(JSON.parse(body)).toMatchObject({ error: { code } })
  })

  it('sends bytes in base64, as Lambda wants them', () => {
    const body = new Uint8Array([0, 255, 128])
    const result = toResult({ status: 200, headers: [], body, matched: true })
    expect(result).toEqual({ statusCode: 200, headers: {}, body: 'AP+A', isBase64Encoded: true })
  })
})
