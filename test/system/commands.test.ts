import { readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:https'

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { PAGES } from '../../src/cli/help.ts'
import { run as runHere } from '../cli/run.ts'
import type { Finding } from '../cli/run.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { OPENSSL_IS_MISSING, makeCertificate } from './certificate.ts'
import { CLI, SCRIPT, ageCache, onTerminal, piped, startUpstreams, upstreams } from './commands.ts'
import { describeRuntimes, requireProgram, run, temporaryFolder } from './processes.ts'
import { openProxy } from './proxy.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import { NODE } from './runtimes.ts'
import { listenOnFreePort } from './sockets.ts'

const ATTRIBUTION = 'Rates By Exchange Rate API, https://www.exchangerate-api.com'

/** Preloaded into a program on Node: makes all waits longer than a test. */
const ENDLESS_WAITS = `data:text/javascript,${encodeURIComponent(`
  import { syncBuiltinESMExports } from 'node:module'
  import timers from 'node:timers/promises'
  const { setTimeout: sleep } = timers
  timers.setTimeout = (delay, ...rest) => sleep(delay * 1_000, ...rest)
  syncBuiltinESMExports()
`)}`

const SAME = [
  'convert 100 USD EUR,GBP,JPY --reverse --date 2020-02-29',
  'convert 1 USD EUX --json',
  'history USD EUR --start 2019-01-01 --interval week',
  'currencies swiss fr --json',
]

describeRuntimes('in a pipe', (runtime) => {
  it.each(SAME)('prints the same as in process, with the same exit code: %s', async (args) => {
    const inProcess = () => runHere([...args.split(' '), '--demo'], { now: Date.now })
    const before = await inProcess()
    const ran = await piped(runtime, `${args} --demo`)
    // Rates may be published meanwhile.
    expect([before, await inProcess()]).toContainEqual(ran)
  })

  it('fetches once, and then prints cached rates and their age without the upstream', async () => {
    const { calls, env, stop } = await startUpstreams()
    const first = await piped(runtime, 'convert 100 USD EUR', env)
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(ATTRIBUTION) })
    const history = await piped(runtime, 'history USD EUR', env)
    expect(history).toMatchObject({ code: 0, stderr: expect.stringContaining('European Central') })
    expect(calls).toHaveLength(2)
    expect(await piped(runtime, 'convert 100 USD EUR', env)).toEqual(first)
    expect(calls).toHaveLength(2)
    await stop()
    expect(await piped(runtime, 'history USD EUR', env)).toEqual(history)
    ageCache(env.RATESMITH_CACHE_DIR, 3)
    const offline = await piped(runtime, 'convert 100 USD EUR', env)
    expect(offline).toMatchObject({ code: 0, stdout: first.stdout })
    expect(offline.stderr).toMatch(/^ratesmith: offline\b.*\b[34] days\b.*127\.0\.0\.1/)
  })

  it('waits for newer rates instead of old ones, without a cache that is unwritable or not wanted', async () => {
    const { calls, env, stop } = await startUpstreams()
    await piped(runtime, 'latest', env)
    ageCache(env.RATESMITH_CACHE_DIR, 3)
    const { stdout, stderr } = await piped(runtime, 'latest --json', env)
    expect(JSON.parse(stdout).updatedAt).toBeGreaterThan(Date.now() - 2 * 86_400_000)
    expect(stderr).toBe('')
    expect(calls).toHaveLength(2)
    const unwritable = { ...env, RATESMITH_CACHE_DIR: '/dev/null/none' }
    expect((await piped(runtime, 'latest', unwritable)).code).toBe(0)
    const folder = { ...env, RATESMITH_CACHE_DIR: temporaryFolder() }
    expect((await piped(runtime, 'latest --no-cache', folder)).code).toBe(0)
    expect(calls).toHaveLength(4)
    expect(readdirSync(folder.RATESMITH_CACHE_DIR)).toEqual([])
    await stop()
    const failed = await piped(runtime, 'convert 1 USD EUR', unwritable)
    expect(failed.stderr).toMatch(/^ratesmith: [^\n]+ unavailable\b[^\n]+127\.0\.0\.1[^\n]+\n$/)
    expect(failed).toMatchObject({ code: 1, stdout: '' })
  })

  it('exits with 0 if the reader of its output has exited', async () => {
    const [, ...program] = runtime
    const shell = ['-c', '{ "$@"; echo "ended with $?" >&2; } | true', 'sh', ...program]
    const help = await piped(['a shell', '/bin/sh', ...shell], '--help')
    expect(help.stderr).toBe('ended with 0\n')
    const { stderr } = await piped(['a shell', '/bin/sh', ...shell], 'history USD EUR --demo')
    expect(stderr).toMatch(/Synthetic rates \(ratesmith\)[^]*\nended with 0\n$/)
  })
})

describeRuntimes('on a terminal', (runtime) => {
  beforeEach(({ skip }) => requireProgram('script', SCRIPT, skip))

  it('fits 40 columns, and conveys nothing by colour alone', async () => {
    const args = 'history USD EUR --period 1Y --demo'
    const narrow = await onTerminal(runtime, args)
    expect(Math.max(...narrow.lines.map((line) => line.length))).toBeLessThanOrEqual(40)
    const withoutSpinner = (raw: string): string => raw.replaceAll('\u001B[K', '')
    expect(withoutSpinner(narrow.raw)).toContain('\u001B[')
    expect(narrow.code).toBe(0)
    const plain = await onTerminal(runtime, args, { NO_COLOR: '1' })
    expect(withoutSpinner(plain.raw)).not.toContain('\u001B')
    expect(plain.lines).toEqual(narrow.lines)
  })
})

describe('the cache', () => {
  it('keeps rates of different upstreams apart', async () => {
    const one = await startUpstreams()
    const other = await startUpstreams()
    const env = { ...other.env, RATESMITH_CACHE_DIR: one.env.RATESMITH_CACHE_DIR }
    for (const each of [one.env, env, one.env, env]) await piped(NODE, 'latest', each)
    expect([one.calls.length, other.calls.length]).toEqual([1, 1])
  })

  it('is used after waiting five seconds for newer rates', async () => {
    let isSilent = false
    const respond = upstreams(openErApiPayload({ now: Date.now() }))
    const { promise: isGivenUp, resolve } = Promise.withResolvers<void>()
    const { calls, env } = await startUpstreams((request, response) => {
      if (isSilent) response.on('close', resolve)
      else respond(request, response)
    })
    await piped(NODE, 'history USD EUR', env)
    ageCache(env.RATESMITH_CACHE_DIR, 8)
    isSilent = true
    const { code, stderr } = await piped(NODE, 'history USD EUR', env)
    expect(stderr).toMatch(/^ratesmith: offline\b.*\b\d+ days\b.*\([^)]+\)/)
    expect(code).toBe(0)
    await isGivenUp
    expect(calls.map((path) => path.slice(0, 4))).toEqual(['/v1/', '/v1/', '/v2/'])
  })
})

it('exits after printing its output, without waiting for its own time limits', async () => {
  const { env, stop } = await startUpstreams()
  await stop()
  const ran = await piped(['Node', NODE[1], '--import', ENDLESS_WAITS], 'convert 1 USD EUR', env)
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('unavailable') })
})

describeRuntimes('doctor', (runtime) => {
  async function examine(env: NodeJS.ProcessEnv, args = '') {
    const { code, stdout, stderr } = await piped(runtime, `doctor --json${args}`, env)
    const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout)
    const found = new Map(findings.map((each) => [each.subject.split(',', 1).join(), each]))
    return { code, ok, found, all: stdout + stderr }
  }

  it('reports that everything works, with new requests despite the cache, and leaves no file', async () => {
    const { calls, env } = await startUpstreams()
    await piped(runtime, 'latest', env)
    const redis = REDIS_IS_MISSING ? undefined : await startRedis()
    onTestFinished(async () => redis?.kill())
    const { code, ok, found } = await examine(env, redis ? ` --store ${redis.url}` : '')
    const isGood = { ok: true, advice: null }
    for (const each of found.values()) expect(each).toMatchObject(isGood)
    expect(found.get('latest rates')?.found).toMatch(/\b\d{3} .*\b20\d\d-/)
    expect(found.get('runtime')?.found).toContain(runtime[0])
    expect({ code, ok, hasRedis: found.has('Redis') }).toEqual({
      code: 0,
      ok: true,
      hasRedis: !REDIS_IS_MISSING,
    })
    expect(calls.filter((url) => url.startsWith('/v6/'))).toHaveLength(2)
    const kept = readdirSync(env.RATESMITH_CACHE_DIR, { recursive: true })
    expect(kept.filter((each) => String(each).includes('doctor'))).toEqual([])
  })

  it('reports a dead upstream, an unwritable folder and a dead Redis, and prints no password', async () => {
    const { env, stop } = await startUpstreams()
    await stop()
    const redis = env.RATESMITH_LATEST_URL.replace(/.*\/\//, 'redis://ada:open-sesame@')
    const broken = { RATESMITH_CACHE_DIR: '/dev/null/none', RATESMITH_STORE: redis }
    const { code, ok, found, all } = await examine({ ...env, ...broken })
    for (const subject of ['latest rates', 'history rates', 'cache', 'Redis']) {
      expect(found.get(subject), subject).toMatchObject({ ok: false, advice: expect.any(String) })
    }
    expect(found.get('latest rates')?.advice).toMatch(/listen|refuse/i)
    expect(all).not.toContain('open-sesame')
    expect({ code, ok }).toEqual({ code: 1, ok: false })
  })

  it('gives advice for an untrusted certificate, and names proxies without their passwords', async ({
    skip,
  }) => {
    skip(OPENSSL_IS_MISSING, 'openssl is not installed')
    const { key, cert } = makeCertificate(temporaryFolder(), 'own', ['IP:127.0.0.1'])
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) })
    const root = `https://127.0.0.1:${await listenOnFreePort(server)}`
    onTestFinished(() => void server.close())
    const { found } = await examine({ RATESMITH_LATEST_URL: root, RATESMITH_HISTORY_URL: root })
    expect(found.get('latest rates')?.advice).toContain('NODE_EXTRA_CA_CERTS')
    if (runtime[0] !== NODE[0]) return
    const { host } = await openProxy({ status: 407 })
    const HTTPS_PROXY = `http://ada:open-sesame@${host}`
    const proxied = await examine({ HTTPS_PROXY, NO_PROXY: '' })
    expect(proxied.found.get('proxies')?.found).toBe(`HTTPS_PROXY=http://…@${host}`)
    expect(proxied.found.get('latest rates')?.advice).toMatch(/\bproxy\b.*\bpassword\b/i)
    expect(proxied.all).not.toContain('open-sesame')
  })
})

it('runs the examples of the help that write', async () => {
  const folder = temporaryFolder()
  const { env } = await startUpstreams()
  const outputs: string[] = []
  for (const example of [...PAGES.sync.examples, ...PAGES.keys.examples]) {
    const script = `ratesmith() { exec "$NODE" "$CLI" "$@"; }\n${example}`
    const more = { NODE: process.execPath, CLI, NO_PROXY: '127.0.0.1' }
    const ran = await run('sh', ['-c', script], { cwd: folder, env: { ...env, ...more } })
    expect(ran.code, `${example}: ${ran.stderr}`).toBe(0)
    outputs.push(ran.stdout)
  }
  const [first, second, third, key = '', listed] = outputs
  expect([first, second]).toEqual(
    Array(2).fill(expect.stringMatching(/^\d\d+ inserted, 0 updated\n$/)),
  )
  expect(third).toMatch(/^\{"inserted":\d+,"updated":\d+\}\n$/)
  expect(key).toMatch(/^rsk_[0-9A-Za-z]{36}\n$/)
  const [, plan, name] = /--plan (\S+) --name (\S+)/.exec(PAGES.keys.examples[0]) ?? []
  expect(listed?.split('\t').slice(1)).toEqual([name, plan, expect.any(String), 'active', '', '\n'])
})
