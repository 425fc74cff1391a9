import { describe, expect, it } from 'vitest'

import { examine } from './run.ts'

/** What `ratesmith doctor` finds of latest rates; rejects where it finds nothing. */
async function examineLatest(fetch: () => Promise<Response>, env: NodeJS.ProcessEnv = {}) {
  const findings = await examine([], { env, fetch })
  const latest = findings.find(({ subject }) => subject.startsWith('latest rates'))
  return latest ?? Promise.reject(new Error('no finding'))
}

/** How `ratesmith doctor` names a cache in a folder that cannot be created. */
async function examineFolder(name: string, env: NodeJS.ProcessEnv = {}) {
  const RATESMITH_CACHE_DIR = `/dev/null/${name}`
  const findings = await examine([], { env: { ...env, RATESMITH_CACHE_DIR } })
  return findings.map(({ subject }) => subject).find((subject) => subject.startsWith('cache'))
}

/** A `fetch` that fails for `reason`, as Node words it: in the cause. */
function failing(reason: string): () => Promise<Response> {
  return () => Promise.reject(new Error('fetch failed', { cause: new Error(reason) }))
}

function answering(body: string, status = 200, headers = {}): () => Promise<Response> {
  return async () => new Response(body, { status, headers })
}

const redirected = answering('', 302, { location: 'https://login.example/' })

describe('ratesmith doctor', () => {
  // In the words of Node, Bun and Deno.
  it.each<[reason: string, fetch: () => Promise<Response>, advice: string]>([
    ['resolved', failing('getaddrinfo ENOTFOUND rates.example'), 'DNS'],
    ['resolved', failing('(Connect): dns error: failed to lookup address'), 'DNS'],
    ['was refused', failing('connect ECONNREFUSED 127.0.0.1:1'), 'nothing listens'],
    ['was refused', failing('Unable to connect. Is the computer able to'), 'nothing listens'],
    ['was refused', failing('tcp connect error: Connection refused'), 'nothing listens'],
    ['not trusted', failing('self-signed certificate'), 'clock'],
    ['not trusted', failing('certificate has expired'), 'clock'],
    ['not trusted', failing('invalid peer: UnknownIssuer'), 'NODE_EXTRA_CA_CERTS'],
    ['status 407', failing('Proxy response (407) !== 200'), 'HTTPS_PROXY'],
    ['took too long', failing('timed out after 5000 ms'), 'firewall'],
    ['status 429', answering('{}', 429), '20 minutes'],
    ['quota', answering('{"result":"error","error-type":"quota-reached"}'), '20 minutes'],
    ['status 403', answering('{}', 403), 'may not ask'],
    ['status 404', answering('{}', 404), 'look at the URL'],
    ['503 without JSON', answering('<html>', 503), 'try again later'],
    ['200 without JSON', answering('<html>'), 'something else answers'],
    ['redirected to a host', redirected, 'something else answers'],
    ['unknown', answering('{"result":"error","error-type":"something-new"}'), 'try again later'],
  ])('says what to do about an upstream that failed: %s', async (reason, fetch, advice) => {
    const latest = await examineLatest(fetch)
    expect(latest).toMatchObject({ ok: false, advice: expect.stringContaining(advice) })
    expect(latest.found).toContain(reason)
  })

  it('judges by what happened, not by the name of the host', async () => {
    const env = { RATESMITH_LATEST_URL: 'https://proxy-cert-429.example:503' }
    const { advice } = await examineLatest(failing('connect ECONNREFUSED'), env)
    expect(advice).toContain('nothing listens')
  })

  it('shows one line that no terminal obeys', async () => {
    const subject = await examineFolder(`a\nb\u001b[31m\u202e${'x'.repeat(9_999)}`)
    expect(subject).toMatch(/^cache, \/dev\/null\/a b \[31m x+$/)
    expect(subject).toHaveLength(500)
  })

  it('takes passwords out, as they are written and decoded', async () => {
    const findings = await examine(['--redis', 'redis://:other-one@127.0.0.1:1'], {
      env: {
        RATESMITH_REDIS_URL: 'redis://ada:p%40ss%2Fword@127.0.0.1:6379',
        HTTP_PROXY: 'http://ada:proxy-word@127.0.0.1:3128',
        https_proxy: 'nonsense',
        RATESMITH_CACHE_DIR: '/dev/null/p@ss/word, p%40ss%2Fword, other-one, proxy-word',
      },
    })
    const texts = findings.flatMap(({ subject, found }) => [subject, found])
    expect(texts).toContain('cache, /dev/null/…, …, …, …')
    expect(texts.join('\n')).toContain('HTTP_PROXY=http://…@127.0.0.1:3128')
  })

  it.each([
    ['http://joe:secret@proxy:3128 and redis://:pw@r', 'http://…@proxy:3128 and redis://…@r'],
    ['161 currencies, 19:00 UTC, a b c %', '161 currencies, 19:00 UTC, a b c %'],
  ])('takes user and password out of every URL, and nothing else: %s', async (said, shown) => {
    const env = { HTTP_PROXY: 'http://proxy:3128', http_proxy: 'http://a:%@b' }
    expect(await examineFolder(said, env)).toBe(`cache, /dev/null/${shown}`)
  })
})
