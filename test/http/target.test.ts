import { describe, expect, it } from 'vitest'

import { targetBehind } from '../../src/http/messages.ts'
import { rowsOf } from '../fixtures/rows.ts'

describe('targetBehind()', () => {
  const SAME_HOST = `
    a.example http://a.example/api?a=b /api?a=b | a.example:8443 https://a.example:8443/ /
    a.example/api?b http://a.example/api?b/v1 /v1 | a.example a.example/api /api
    http://a http://http://a/api /api | a? a?/api?b=http:// /api?b=http://`

  it.each(rowsOf(SAME_HOST))('removes the host %j from %j: %j', (host = '', url = '', target) => {
    expect(targetBehind(host, url)).toBe(target)
  })

  const OTHER_HOSTS = `
    b.example http://a.example/api | A.example http://a.example/api | a.exam http://a.example/api
    a.example http://a.example?b | a.example http://a.example | a.example ws://a.example/api
    a.example /api`

  it.each<readonly [host: string | null, url: string]>([
    [null, 'http://a.example/api'],
    ['', 'http://a.example/api'],
    ['', '/api'],
    ...rowsOf(OTHER_HOSTS).map(([host = '', url = '']) => [host, url] as const),
  ])('returns the URL for the host %j and the URL %j', (host, url) => {
    expect(targetBehind(host, url)).toBe(url)
  })
})
