import { describe, expect, it } from 'vitest'

import { DAY, NOW, examine, publish } from './run.ts'

/** Returns the subject of `ratesmith doctor` for a cache folder that cannot be created. */
async function examineFolder(name: string, env: NodeJS.ProcessEnv = {}) {
  const RATESMITH_CACHE_DIR = `/dev/null/${name}`
  const findings = await examine([], { env: { ...env, RATESMITH_CACHE_DIR } })
  return findings.map(({ subject }) => subject).find((subject) => subject.startsWith('cache'))
}

/** Returns a `fetch` that fails as Node's does: with `reason` in the cause. */
function failing(reason: string): () => Promise<Response> {
  return () => Promise.reject(new Error('fetch failed', { cause: new Error(reason) }))
}

function responding(body: string, status = 200, headers = {}): () => Promise<Response> {
  return async () => new Response(body, { status, headers })
}

const redirected = responding('', 302, { location: 'https://login.example/' })

describe('ratesmith doctor', () => {
  // Error messages of Node, Bun and Deno; words of a host name do not count.
  it.each<[reason: string, fetch: () => Promise<Response>, advice: string]>([
    ['resolve', failing('getaddrinfo ENOTFOUND rates.example'), 'DNS'],
    ['resolve', failing('(Connect): dns error: failed to lookup address'), 'DNS'],
    ['refused', failing('connect ECONNREFUSED 127.0.0.1:1'), 'nothing listens'],
    ['refused', failing('Unable to connect. Is the computer able to'), 'nothing listens'],
    ['refused', failing('tcp connect error: Connection refused'), 'nothing listens'],
    ['certificate', failing('self-signed certificate'), 'clock'],
    ['certificate', failing('certificate has expired'), 'clock'],
    ['certificate', failing('invalid peer: UnknownIssuer'), 'NODE_EXTRA_CA_CERTS'],
    ['407', failing('Proxy response (407) !== 200'), 'HTTPS_PROXY'],
    ['timed out', failing('timed out after 5000 ms'), 'the connection fails'],
    ['429', responding('{}', 429), '20 minutes'],
    ['quota', responding('{"result":"error","error-type":"quota-reached"}'), '20 minutes'],
    ['403', responding('{}', 403), 'access denied'],
    ['404', responding('{}', 404), 'check the URL'],
    ['503', responding('<html>', 503), 'try again later'],
    ['JSON', responding('<html>'), 'not from the provider'],
    ['redirect', redirected, 'not from the provider'],
    ['unknown', responding('{"result":"error","error-type":"something-new"}'), 'try again later'],
  ])('gives advice for a failed upstream: %s', async (reason, fetch, advice) => {
    const env = { RATESMITH_LATEST_URL: 'https://proxy-cert-429.example:503' }
    const latest = (await examine([], { env, fetch })).find(({ subject }) =>
      subject.startsWith('latest rates'),
    )
    expect(latest).toMatchObject({ ok: false, advice: expect.stringContaining(advice) })
    expect(latest?.found).toContain(reason)
  })

  it('fails for a source that publishes no newer rates, with their age', async () => {
    const findings = await examine([], { fetch: publish(), now: () => NOW + 60 * DAY })
    const failures = findings.filter(({ ok, subject }) => !ok && subject.includes(' rates, '))
    const [latest, history] = failures.map(({ subject, found }) => `${subject}: ${found}`)
    expect(latest).toMatch(
      /^latest.*Exchange Rate API.* 60 days ago; the next were due 59 days ago$/,
    )
    expect(history).toMatch(/^history.*Frankfurter.* 2026-11-20; the next were due 57 days ago$/)
    expect(failures[0]?.advice).toContain('choose another provider')
  })

  it('removes control characters and cuts a subject to 500 characters', async () => {
    const subject = await examineFolder(`a\nb\u001b[31m\u202e${'x'.repeat(9_999)}`)
    expect(subject).toMatch(/^cache, \/dev\/null\/a b \[31m x+$/)
    expect(subject).toHaveLength(500)
  })

  it('redacts passwords, encoded and decoded', async () => {
    const findings = await examine(['--store', 'redis://:other-one@127.0.0.1:1'], {
      env: {
        RATESMITH_STORE: 'redis://ada:p%40ss%2Fword@127.0.0.1:6379',
        HTTP_PROXY: 'http://ada:proxy-word@127.0.0.1:3128',
        https_proxy: 'nonsense',
        RATESMITH_CACHE_DIR: '/dev/null/p@ss/word, p%40ss%2Fword, other-one, proxy-word',
      },
    })
    const texts = findings.flatMap(({ subject, found }) => [subject, found])
    expect(texts).toContain('cache, /dev/null/…, …, …, …')
    expect(texts).toContain('https_proxy=nonsense HTTP_PROXY=http://…@127.0.0.1:3128')
    expect(texts).toContain('Redis, 127.0.0.1:1')
  })

  it.each([
    ['http://joe:secret@proxy:3128 and redis://:pw@r', 'http://…@proxy:3128 and redis://…@r'],
    ['161 currencies, 19:00 UTC, a b c %', '161 currencies, 19:00 UTC, a b c %'],
  ])('redacts only user and password of every URL: %s', async (name, shown) => {
    const env = { HTTP_PROXY: 'http://proxy:3128', http_proxy: 'http://a:%@b' }
    expect(await examineFolder(name, env)).toBe(`cache, /dev/null/${shown}`)
  })
})
