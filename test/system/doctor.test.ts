import { readdirSync } from 'node:fs'

import { describe, expect, it, onTestFinished } from 'vitest'

import { OPENSSL_IS_MISSING, makeCertificate } from './certificate.ts'
import { piped, rootOf, serve, startUpstreams } from './commands.ts'
import { writeConfig } from './config-file.ts'
import { describeRuntimes, temporaryFolder } from './processes.ts'
import { openProxy } from './proxy.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import { NODE } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'

const PASSWORD = 'open-sesame-99'

interface Finding {
  subject: string
  ok: boolean
  found: string
  advice: string | null
}

async function examine(runtime: Runtime, env: NodeJS.ProcessEnv, args = '') {
  const { code, stdout, stderr } = await piped(runtime, `doctor --json${args}`, env)
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout)
  const found = new Map(findings.map((each) => [each.subject.split(',', 1).join(), each]))
  return { code, ok, found, all: stdout + stderr }
}

describeRuntimes('ratesmith doctor', (runtime) => {
  it('reports that everything works, with new requests despite the cache, and leaves no file', async () => {
    const { calls, env } = await startUpstreams()
    await piped(runtime, 'latest', env)
    const { code, ok, found } = await examine(runtime, env)
    expect(found.get('latest rates')).toMatchObject({
      ok: true,
      subject: expect.stringContaining('127.0.0.1'),
      found: expect.stringMatching(/\b\d{3} .*\b20\d\d-/),
      advice: null,
    })
    expect(found.get('history rates')?.found).toMatch(/\b20\d\d-/)
    expect(found.get('runtime')?.found).toContain(runtime[0])
    expect(found.get('cache')?.ok).toBe(true)
    expect({ code, ok }).toEqual({ code: 0, ok: true })
    expect(calls.filter((url) => url.startsWith('/v6/'))).toHaveLength(2)
    const kept = readdirSync(env.RATESMITH_CACHE_DIR, { recursive: true })
    expect(kept.filter((each) => String(each).includes('doctor'))).toEqual([])
  })

  it('reports a dead upstream, an unwritable folder and a dead Redis, and prints no password', async () => {
    const { env, stop } = await startUpstreams()
    await stop()
    const redis = String(env['RATESMITH_LATEST_URL']).replace(/.*\/\//, `redis://ada:${PASSWORD}@`)
    const broken = { RATESMITH_CACHE_DIR: '/dev/null/none', RATESMITH_STORE: redis }
    const { code, ok, found, all } = await examine(runtime, { ...env, ...broken })
    for (const subject of ['latest rates', 'history rates', 'cache', 'Redis']) {
      expect(found.get(subject), subject).toMatchObject({ ok: false, advice: expect.any(String) })
    }
    expect(found.get('latest rates')?.advice).toMatch(/listen|refuse/i)
    expect(all).not.toContain(PASSWORD)
    expect({ code, ok }).toEqual({ code: 1, ok: false })
  })

  it('gives advice for an untrusted certificate', async ({ skip }) => {
    skip(OPENSSL_IS_MISSING, 'openssl is not installed')
    const { key, cert } = makeCertificate(temporaryFolder(), 'own', ['IP:127.0.0.1'])
    const config = writeConfig(`
      import { readFileSync } from 'node:fs'
      export default {}
      export const server = {
        tls: { key: readFileSync('${key}', 'utf8'), cert: readFileSync('${cert}', 'utf8') },
      }
    `)
    const root = await rootOf(serve([config, '--demo']))
    const env = { RATESMITH_LATEST_URL: root, RATESMITH_HISTORY_URL: root }
    const { found } = await examine(runtime, env)
    expect(found.get('latest rates')?.advice).toContain('NODE_EXTRA_CA_CERTS')
  })

  it('tries the operations of a Redis store', async ({ skip }) => {
    skip(REDIS_IS_MISSING, 'redis-server is not installed')
    const { env } = await startUpstreams()
    const { url, kill } = await startRedis()
    onTestFinished(kill)
    const { code, found } = await examine(runtime, env, ` --store ${url}`)
    expect(found.get('Redis')).toMatchObject({ ok: true, advice: null })
    expect(code).toBe(0)
  })
})

describe('ratesmith doctor', () => {
  it('names proxies without their passwords', async () => {
    const { host } = await openProxy({ status: 407 })
    const proxy = `http://ada:${PASSWORD}@${host}`
    const { found, all } = await examine(NODE, { HTTPS_PROXY: proxy, NO_PROXY: '' })
    expect(found.get('proxies')?.found).toBe(`HTTPS_PROXY=http://…@${host}`)
    expect(found.get('latest rates')?.advice).toMatch(/\bproxy\b.*\bpassword\b/i)
    expect(all).not.toContain(PASSWORD)
  })
})
