import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { makeCertificate, OPENSSL_IS_MISSING } from './certificate.ts'
import { piped, startUpstreams } from './commands.ts'
import { openProxy } from './proxy.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import { NODE, RUNTIMES } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'
import { serve, upstreams } from './serving.ts'

const PASSWORD = 'open-sesame-99'

interface Finding {
  subject: string
  ok: boolean
  found: string
  advice: string | null
}

/** What the doctor finds, by the first words of what it looked at, and its exit code. */
async function examine(
  runtime: Runtime,
  env: NodeJS.ProcessEnv,
  args: string[] = [],
): Promise<{ code: number | null; ok: boolean; found: Map<string, Finding>; all: string }> {
  const { code, stdout, stderr } = await piped(runtime, ['doctor', '--json', ...args], env)
  const report: { ok: boolean; findings: Finding[] } = JSON.parse(stdout)
  const found = report.findings.map((finding): [string, Finding] => {
    const [subject = ''] = finding.subject.split(',')
    return [subject, finding]
  })
  return { code, ok: report.ok, found: new Map(found), all: stdout + stderr }
}

describe.each(RUNTIMES)('ratesmith doctor on %s', (...runtime) => {
  const [name] = runtime

  it('finds that all works, asks anew although rates are kept, and leaves nothing behind', async () => {
    const { calls, env } = await startUpstreams()
    await piped(runtime, ['latest'], env)
    const { code, ok, found } = await examine(runtime, env)
    expect(found.get('latest rates')).toMatchObject({
      ok: true,
      subject: expect.stringContaining('127.0.0.1'),
      found: expect.stringMatching(/^\d{3} currencies, published 20\d\d-/),
      advice: null,
    })
    expect(found.get('history rates')?.found).toMatch(/reference rates up to 20\d\d-/)
    expect(found.get('runtime')?.found).toContain(name)
    expect(found.get('cache')?.ok).toBe(true)
    expect({ code, ok }).toEqual({ code: 0, ok: true })
    expect(calls.filter((url) => url.startsWith('/v6/'))).toHaveLength(2)
    const kept = readdirSync(String(env['RATESMITH_CACHE_DIR']), { recursive: true })
    expect(kept.filter((each) => String(each).includes('doctor'))).toEqual([])
  })

  it('finds a dead upstream, a folder that cannot be written and a dead Redis, and keeps passwords to itself', async () => {
    const { env, stop } = await startUpstreams()
    await stop()
    const redis = String(env['RATESMITH_LATEST_URL']).replace(/.*\/\//, `redis://ada:${PASSWORD}@`)
    const { code, ok, found, all } = await examine(runtime, {
      ...env,
      RATESMITH_CACHE_DIR: '/dev/null/none',
      RATESMITH_REDIS_URL: redis,
    })
    for (const subject of ['latest rates', 'history rates', 'cache', 'Redis']) {
      expect(found.get(subject), subject).toMatchObject({ ok: false, advice: expect.any(String) })
    }
    expect(found.get('latest rates')?.advice).toContain('nothing listens')
    expect(all).not.toContain(PASSWORD)
    expect({ code, ok }).toEqual({ code: 1, ok: false })
  })

  it('finds an upstream that lies, and a clock that is wrong', async () => {
    const lie = openErApiPayload({ now: Date.now(), overrides: { rates: { USD: 1, EUR: 0.9 } } })
    const answer = upstreams(lie)
    const { env } = await startUpstreams((request, response) => {
      response.setHeader('date', new Date(Date.now() + 3_600_000).toUTCString())
      answer(request, response)
    })
    const { code, found } = await examine(runtime, env)
    expect(found.get('latest rates')).toMatchObject({
      ok: false,
      found: expect.stringContaining('2 codes are not a market'),
    })
    expect(found.get('history rates')?.ok).toBe(true)
    expect(found.get('clock')?.found).toMatch(/^(59|60) minutes behind 127\.0\.0\.1/)
    expect(code).toBe(1)
  })

  it.each([
    [429, 'wait for 20 minutes'],
    [403, 'may not ask'],
    [404, 'look at the URL'],
    [503, 'try again later'],
  ])('says what to do about status %d', async (status, advice) => {
    const { env } = await startUpstreams((_request, response) => {
      response.writeHead(status).end('{}')
    })
    const { code, found } = await examine(runtime, env)
    expect(found.get('latest rates')?.advice).toContain(advice)
    expect(found.get('history rates')?.advice).toContain(advice)
    expect(code).toBe(1)
  })

  it('says what to do about a certificate that nobody trusts', async ({ skip }) => {
    skip(OPENSSL_IS_MISSING, 'openssl is not installed')
    const folder = mkdtempSync(join(tmpdir(), 'ratesmith-doctor-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const { key, cert } = makeCertificate(folder, 'own', ['IP:127.0.0.1'])
    const server = serve(['--demo', '--https-key', key, '--https-cert', cert])
    const [, root = ''] = await server.written(/listens on (https:\S+:\d+)/)
    const { found } = await examine(runtime, {
      RATESMITH_LATEST_URL: root,
      RATESMITH_HISTORY_URL: root,
    })
    expect(found.get('latest rates')?.advice).toContain('certificate is not trusted')
  })

  it('says what to do about an upstream that is no such thing, and prints nothing that a terminal obeys', async () => {
    const { env } = await startUpstreams((request, response) => {
      response.end(
        request.url?.startsWith('/v6/')
          ? '{"result":"error","error-type":"a\\nb\\u001b[31m"}'
          : '<html>Log in</html>',
      )
    })
    const { stdout } = await piped(runtime, ['doctor'], env)
    expect(stdout).toMatch(/refused: a b \[31m\n/)
    expect(stdout).toContain('something else answers there')
    expect(stdout).not.toContain('\u001B')
  })

  it('tries a Redis for what is asked of a store', async ({ skip }) => {
    skip(REDIS_IS_MISSING, 'redis-server is not installed')
    const { env } = await startUpstreams()
    const { url, kill } = await startRedis()
    onTestFinished(kill)
    const { code, found } = await examine(runtime, env, ['--redis', url])
    expect(found.get('Redis')).toMatchObject({ ok: true, found: 'keeps texts and grants claims' })
    expect(code).toBe(0)
  })
})

describe('ratesmith doctor', () => {
  it('tells of proxies without their passwords', async () => {
    const { host } = await openProxy({ status: 407 })
    const proxy = `http://ada:${PASSWORD}@${host}`
    const { found, all } = await examine(NODE, { HTTPS_PROXY: proxy, NO_PROXY: '' })
    expect(found.get('proxies')?.found).toBe(`HTTPS_PROXY=http://…@${host}`)
    expect(found.get('latest rates')?.advice).toContain('the proxy, its user and its password')
    expect(all).not.toContain(PASSWORD)
  })

  it('ends with 2 for a Redis that is none, without asking anybody', async () => {
    const { calls, env } = await startUpstreams()
    const { code, stdout, stderr } = await piped(NODE, ['doctor', '--redis='], env)
    expect(stderr).toMatch(/^ratesmith: --redis[^\n]+\n$/)
    expect(stdout).toBe('')
    expect(code).toBe(2)
    expect(calls).toEqual([])
  })

  it.each([
    [{ RATESMITH_LATEST_URL: `https://ada:${PASSWORD}@rates.example` }, 'RATESMITH_LATEST_URL'],
    [{ RATESMITH_REDIS_URL: `rediss://ada:${PASSWORD}@` }, 'RATESMITH_REDIS_URL'],
    [{ HTTPS_PROXY: `ada:${PASSWORD}@proxy` }, 'HTTPS_PROXY'],
  ])('ends with 2 and one line for a variable that cannot be used: %#', async (env, name) => {
    const { code, stdout, stderr } = await piped(NODE, ['doctor'], { ...env })
    expect(stderr).toMatch(new RegExp(`^ratesmith: ${name}[^\\n]+\\n$`))
    expect(stdout + stderr).not.toContain(PASSWORD)
    expect(code).toBe(2)
  })
})
