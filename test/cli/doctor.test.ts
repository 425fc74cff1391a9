import { describe, expect, it } from 'vitest'

import { examine } from './run.ts'

/** What `ratesmith doctor` finds of latest rates; rejects where it finds nothing. */
async function examineLatest(fetch: () => Promise<Response>, env: NodeJS.ProcessEnv = {}) {
  const findings = await examine([], { env, fetch })
  const latest = findings.find(({ subject }) => subject.startsWith('latest rates'))
  return latest ?? Promise.reject(new Error('no finding'))
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
    ['ENOTFOUND', failing('getaddrinfo ENOTFOUND rates.example'), 'DNS'],
    ['dns error', failing('client error (Connect): dns error: failed to lookup address'), 'DNS'],
    ['ECONNREFUSED', failing('connect ECONNREFUSED 127.0.0.1:1'), 'nothing listens'],
    ['Unable to', failing('Unable to connect. Is the computer able to'), 'nothing listens'],
    ['tcp connect', failing('tcp connect error: Connection refused'), 'nothing listens'],
    ['self-signed', failing('self-signed certificate'), 'clock'],
    ['expired', failing('certificate has expired'), 'clock'],
    ['UnknownIssuer', failing('invalid peer: UnknownIssuer'), 'NODE_EXTRA_CA_CERTS'],
    ['(407)', failing('Proxy response (407) !== 200 when HTTP Tunneling'), 'HTTPS_PROXY'],
    ['5000 ms', failing('no answer within 5000 ms'), 'firewall'],
    ['status 429', answering('{}', 429), '20 minutes'],
    ['quota', answering('{"result":"error","error-type":"quota-reached"}'), '20 minutes'],
    ['status 403', answering('{}', 403), 'may not ask'],
    ['status 404', answering('{}', 404), 'look at the URL'],
    ['503 without JSON', answering('<html>', 503), 'try again later'],
    ['200 without JSON', answering('<html>'), 'something else answers'],
    ['redirected to login.example, which is not trusted', redirected, 'something else answers'],
    ['new', answering('{"result":"error","error-type":"something-new"}'), 'try again later'],
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
    const { found } = await examineLatest(failing(`a\nb\u001b[31m\u202e${'x'.repeat(9_999)}`))
    expect(found).toMatch(/: a b \[31m x+$/)
    expect(found).toHaveLength(500)
  })

  it('takes passwords out, as they are written and decoded', async () => {
    const said = 'WRONGPASS p@ss/word, p%40ss%2Fword, other-one, proxy-word'
    const findings = await examine(['--redis', 'redis://:other-one@127.0.0.1:1'], {
      env: {
        RATESMITH_REDIS_URL: 'redis://ada:p%40ss%2Fword@127.0.0.1:6379',
        HTTP_PROXY: 'http://ada:proxy-word@127.0.0.1:3128',
        https_proxy: 'nonsense',
      },
      fetch: failing(said),
    })
    const found = findings.map((finding) => finding.found).join('\n')
    expect(found).toContain('WRONGPASS …, …, …, …\n')
    expect(found).toContain('HTTP_PROXY=http://…@127.0.0.1:3128')
  })

  it.each([
    ['see http://joe:secret@proxy:3128 and redis://:pw@r', 'http://…@proxy:3128 and redis://…@r'],
    [
      '161 currencies, 2026-11-20 19:00 UTC, a b c %',
      '161 currencies, 2026-11-20 19:00 UTC, a b c %',
    ],
  ])('takes user and password out of every URL, and nothing else: %s', async (said, shown) => {
    const env = { HTTP_PROXY: 'http://proxy:3128', http_proxy: 'http://a:%@b' }
    expect((await examineLatest(failing(said), env)).found).toContain(shown)
  })
})
