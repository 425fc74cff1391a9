import { describe, expect, it } from 'vitest'

import { targetBehind } from '../../src/http/messages.ts'
import { splitTarget } from '../../src/http/router.ts'
import { rowsOf } from '../fixtures/rows.ts'

describe('splitTarget()', () => {
  const PLAIN = "/ /api/v1/latest /~!$&'()*+,;=:@-_a0 /api//v1 //api/v1 /a%2Fb /a%00"

  it.each(PLAIN.split(' '))('splits %j into itself and no query', (target) => {
    expect(splitTarget(target)).toEqual({ path: target, query: '' })
  })

  const SPLITS = `
    /api/v1/latest?base=EUR /api/v1/latest base=EUR | /api? /api | /api?a /api a | /api?a?b /api a?b
    /api?a#b?c /api a | /api#b?c /api | ///api?a ///api a | /a/../b /b | /.. / | /a/./b/.?c /a/b/ c
    /a/%2e%2E/b /b | /a\\b /a/b | \\a?b /a b | /ä?ö /%C3%A4 %C3%B6 | /a?ö /a %C3%B6 | /a?%zz /a %zz
    http://rates.example/api?a=b /api a=b | https://rates.example:8443/api/ /api/ | ?a / a | #a /
    HTTP://rates.example/api /api | http:/rates.example/api /api | http:\\\\rates.example\\api /api
    http:rates.example/api /api | http:///rates.example/api /api | http://[::1]:x@/api /api
    https://user@rates.example:1/api /api | http://rates.example / | http://rates.example?a / a
    http://rates.example#a /`

  it.each([
    ...rowsOf(SPLITS),
    ['', '/'],
    ['/a b?c d', '/a%20b', 'c%20d'],
    ['/a\tb?c\nd', '/ab', 'cd'],
    ['/a\u0000?b', '/a%00', 'b'],
    ['/a \u0000', '/a'],
  ])('splits %j into %j and the query %j', (target = '', path = '', query = '') => {
    expect(splitTarget(target)).toEqual({ path, query })
  })

  const OTHERS = '* api api/v1 api/v1?a :99999/api ftp://rates.example/api xhttp://a/b'

  it.each(OTHERS.split(' '))('returns %j as the path', (target) => {
    expect(splitTarget(target)).toEqual({ path: target, query: '' })
  })
})

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
