import { describe, expect, it } from 'vitest'

import { adviceFor } from '../../src/cli/doctor/advice.ts'
import { isOlder } from '../../src/cli/doctor/machine.ts'
import { createRedaction } from '../../src/cli/doctor/secrets.ts'

describe('the doctor’s advice', () => {
  // The words of Node, Bun and Deno.
  it.each([
    ['rates.example did not answer: fetch failed: getaddrinfo ENOTFOUND rates.example', 'DNS'],
    [
      'rates.example did not answer: client error (Connect): dns error: failed to lookup address',
      'DNS',
    ],
    [
      'rates.example did not answer: fetch failed: connect ECONNREFUSED 127.0.0.1:1',
      'nothing listens',
    ],
    [
      'rates.example did not answer: Unable to connect. Is the computer able to access',
      'nothing listens',
    ],
    [
      'rates.example did not answer: tcp connect error: Connection refused (os error 111)',
      'nothing listens',
    ],
    ['rates.example did not answer: fetch failed: self-signed certificate', 'clock'],
    ['rates.example did not answer: certificate has expired', 'clock'],
    [
      'rates.example did not answer: invalid peer certificate: UnknownIssuer',
      'NODE_EXTRA_CA_CERTS',
    ],
    [
      'rates.example did not answer: Proxy response (407) !== 200 when HTTP Tunneling',
      'HTTPS_PROXY',
    ],
    ['no answer within 5000 ms', 'firewall'],
    ['rates.example answered with status 429', '20 minutes'],
    ['rates.example refused: quota-reached', '20 minutes'],
    ['rates.example answered with status 403', 'may not ask'],
    ['rates.example answered with status 404', 'URL'],
    ['rates.example answered 503 without JSON', 'try again later'],
    ['rates.example answered 200 without JSON: Unexpected token', 'something else answers'],
    ['rates.example redirected to login.example, which is not trusted', 'something else answers'],
    ['rates.example did something new', 'try again later'],
  ])('on %j speaks of %j', (reason, word) => {
    expect(adviceFor(reason, 'rates.example')).toContain(word)
  })

  it('goes by what happened, not by the name of the host', () => {
    const host = 'proxy-cert-429.example:503'
    expect(adviceFor(`${host} did not answer: connect ECONNREFUSED`, host)).toContain('listens')
  })
})

describe('the doctor’s discretion', () => {
  it('takes out user and password of every URL', () => {
    const redacted = createRedaction({}, [])
    expect(redacted('see http://joe:secret@proxy:3128 and redis://:pw@r')).toBe(
      'see http://…@proxy:3128 and redis://…@r',
    )
  })

  it('takes out passwords of the environment wherever they stand, written or meant', () => {
    const env = { RATESMITH_REDIS_URL: 'redis://ada:p%40ss%2Fword@127.0.0.1:6379' }
    const redacted = createRedaction(env, ['redis://:other-one@host'])
    const told = redacted('WRONGPASS p@ss/word, p%40ss%2Fword, other-one')
    expect(told).toBe('WRONGPASS …, …, …')
  })

  it('takes out keys, and passwords of each of several roots', () => {
    const env = {
      RATESMITH_CURRENCYAPI_KEY: 'cur_live_12345',
      RATESMITH_LATEST_URL: 'https://a:first-word@one.example,https://b:second-word@two.example',
    }
    const redacted = createRedaction(env, [])
    expect(redacted('cur_live_12345 is no key, first-word, second-word')).toBe('… is no key, …, …')
  })

  it('leaves everything else as it is', () => {
    const text = 'open.er-api.com: 161 currencies, 2026-11-20 19:00 UTC'
    const env = {
      HTTPS_PROXY: 'http://proxy:3128',
      HTTP_PROXY: 'nonsense',
      https_proxy: 'http://a:%@b',
    }
    expect(createRedaction(env, ['', 'x'])(text)).toBe(text)
  })
})

describe('isOlder', () => {
  it.each([
    ['22.15.0', '22.15', false],
    ['22.14.9', '22.15', true],
    ['20.19.0', '22.15', true],
    ['24.0.0', '22.15', false],
    ['22.15', '22.15.1', true],
    ['26.1.0', '22.15.3', false],
  ])('compares %s with %s', (version, needed, older) => {
    expect(isOlder(version, needed)).toBe(older)
  })
})
