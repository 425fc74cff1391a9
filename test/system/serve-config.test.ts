import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { createRates } from '../../src/index.ts'
import { createQuotes } from '../../src/quotes/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { CLI, expectRefused, piped, rootOf, serve, startUpstreams } from './commands.ts'
import { writeConfig } from './config-file.ts'
import { describeRuntimes, listen, run, temporaryFolder } from './processes.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import { NODE, ROOT } from './runtimes.ts'

const OPTIONS = 'the options of createRatesHandler, a handler or { fetch }'

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  return (await fetch(url, { headers })).status
}

describeRuntimes('ratesmith serve config.ts', (runtime) => {
  const [name, program, ...parameters] = runtime

  it('serves options, and a flag counts more than the file', async () => {
    const { env } = await startUpstreams()
    const config = writeConfig(`
      import type { RatesHandlerOptions } from 'ratesmith'
      import { fakeProviders } from 'ratesmith/testing'
      const { history } = fakeProviders()
      export default { basePath: '/own', cors: 'all', providers: { history } } satisfies RatesHandlerOptions
    `)
    const sourceOf = async (root: string, path: string): Promise<string> =>
      Object(await (await fetch(root + path)).json()).source.name
    const root = await rootOf(serve([config], env, runtime))
    expect(await sourceOf(root, '/own/v1/latest')).toContain('Exchange Rate API')
    expect(await sourceOf(root, '/own/v1/history?from=USD&to=EUR')).toContain('Synthetic')
    const unversioned = await fetch(`${root}/own/rates`)
    expect(unversioned.headers.get('access-control-allow-origin')).toBe('*')
    const args = [config, '--base-path', '/flag', '--history', 'frankfurter']
    const other = await rootOf(serve(args, env, runtime))
    expect(await sourceOf(other, '/flag/v1/history?from=USD&to=EUR')).toContain('European Central')
    expect(await statusOf(`${other}/own/v1/latest`)).toBe(404)
    expect((await fetch(other)).url).toBe(`${other}/flag/`)
  })

  it('has quotes by RATESMITH_QUOTE_SECRETS, if the file has none', async () => {
    const secretOf = (name: string): string => name.padEnd(32, '-')
    const [own, former, current] = [secretOf('own'), secretOf('former'), secretOf('current')]
    const rootWith = (args: string[], secrets = ''): Promise<string> =>
      rootOf(serve([...args, '--demo'], { RATESMITH_QUOTE_SECRETS: secrets }, runtime))
    const config = writeConfig(`export default { quotes: { secrets: ['${own}'] } }`)
    const maker = await rootWith([], former)
    const made = await fetch(`${maker}/api/v1/quote?from=USD&to=EUR&amount=99.90`)
    const text = await made.text()
    const path = `/api/v1/convert?quote=${JSON.parse(text).quote}`
    const redeemer = await rootWith([writeConfig('export default {}')], `${current}, ${former}`)
    expect(await (await fetch(redeemer + path)).text()).toBe(text)
    expect(await statusOf((await rootWith([config], former)) + path)).toBe(400)
    const env = { RATESMITH_QUOTE_SECRETS: former }
    const words = ['convert', '--quote', JSON.parse(text).quote, '--json']
    expect(await piped(runtime, [...words, '--demo'], env)).toMatchObject({
      code: 0,
      stdout: `${text}\n`,
    })
    expect(await piped(runtime, words, env)).toMatchObject({ code: 2 })
    // Those of real rates.
    const rates = createRates({ providers: fakeProviders() })
    const { quote } = await createQuotes({ rates, secrets: [former] }).create({
      from: 'USD',
      to: 'EUR',
    })
    expect(await statusOf(`${redeemer}/api/v1/convert?quote=${quote}`)).toBe(400)
    expect(await statusOf(`${await rootWith([])}/api/v1/quote?from=USD&to=EUR`)).toBe(404)
  })

  it('serves a handler, with probes', async () => {
    const config = writeConfig(`
      import { createRatesHandler } from 'ratesmith'
      import { fakeProviders } from 'ratesmith/testing'
      export default createRatesHandler({ providers: fakeProviders() })
      export const server = { metrics: true }
    `)
    const running = serve([config], {}, runtime)
    const root = await rootOf(running)
    expect(await statusOf(`${root}/api/v1/latest`)).toBe(200)
    await expect.poll(() => statusOf(`${root}/readyz`)).toBe(200)
    expect(await (await fetch(`${root}/metrics`)).text()).toContain('/v1/latest')
    expect(await running.end()).toBe(0)
  })

  it.each([
    ['{ fetch }', 'export default { fetch: respond }'],
    ['a function', 'export default respond'],
    ['an instance', 'export default new (class { store = 1; fetch = respond })()'],
  ])('serves %s of another program, with probes', async (_, text) => {
    const respond =
      "const respond = (request) => new Response('own ' + new URL(request.url).pathname)"
    const running = serve([writeConfig(`${respond}\n${text}`, 'config.mjs')], {}, runtime)
    const root = await rootOf(running)
    expect(await (await fetch(`${root}/any`)).text()).toBe('own /any')
    expect([await statusOf(`${root}/healthz`), await statusOf(`${root}/readyz`)]).toEqual([
      200, 200,
    ])
    expect(await running.end()).toBe(0)
  })

  it.each([
    ["throw new Error('no database')", ['config.ts', 'no database']],
    ["import './missing.ts'", ['config.ts', 'missing']],
    ['export default {\n  cors: ,\n}', ['config.ts']],
    ['export const server = {}', [`config.ts has no default export; export ${OPTIONS}`]],
    ['export default 5', [`config.ts must be ${OPTIONS}, got a number`]],
    ['export default null', ['got null']],
    ['export default [{}]', ['got an array']],
    ['export default Promise.resolve({})', ['got a promise; await it']],
    [
      "export default { corss: 'all' }",
      ['config.ts: unknown option "corss"; did you mean "cors"?'],
    ],
    ["export default { cors: 'every' }", ['config.ts: cors must be']],
    ['export default { providers: { lates: 1 } }', ['did you mean "providers.latest"?']],
    ['export default { providers: { latest: 1 } }', ['config.ts: providers.latest']],
    [
      'export default {}; export const server = { metric: true }',
      ['did you mean "server.metrics"?'],
    ],
    ['export default {}; export const server = 5', ['config.ts: server must be an object, got 5']],
    ['export default {}; export const server = { compress: 1 }', ['must be true or false, got 1']],
    [
      'export default {}; export const server = { accessLog: { clients: 1 } }',
      ['server.accessLog.clients must be true or false, got 1'],
    ],
    [
      'export default {}; export const server = { accessLog: { client: true } }',
      ['did you mean "server.accessLog.clients"?'],
    ],
    [
      'export default {}; export const servr = {}',
      ['unknown export "servr"; did you mean "server"?'],
    ],
    [
      'export default () => new Response(); export const server = { accessLog: true }',
      ['server.accessLog needs a handler of createRatesHandler()'],
    ],
  ])('exits with 2 and one line for %s', async (text, facts) => {
    const args = [...parameters, CLI, 'serve', '--port', '0', writeConfig(text)]
    expectRefused(await run(program, args, { env: { NO_PROXY: '127.0.0.1' } }), ...facts)
  })

  it.each([
    ['throw new Error()', 2],
    ['export default { corss: 1 }', 2],
    ['export default {}', 1],
  ])('does not wait for connections that the file has opened: %s', async (text, code) => {
    const { port } = new URL((await listen(() => {})).url)
    const config = writeConfig(`setInterval(() => {}, 1_000)\n${text}`, 'config.mjs')
    const args = [...parameters, CLI, 'serve', config, '--demo', '--port', port]
    expect(await run(program, args)).toMatchObject({ code, stdout: '' })
  })

  it('names the line that throws', async ({ skip }) => {
    skip(name === 'Bun', 'its stacks have other lines')
    const config = writeConfig(
      "const a = 1\nexport default a\nthrow new TypeError('first\\nsecond')",
    )
    const ran = await run(program, [...parameters, CLI, 'serve', config])
    expectRefused(ran, 'config.ts:3: first; second')
  })
})

describe('a config file', () => {
  it.each(['--demo', '--base-path=/own', '--latest=ecb', '--pegs', '--store=rates', '--log=json'])(
    'with a handler refuses %s',
    async (flag) => {
      const config = writeConfig('export default () => new Response()')
      const ran = await run(process.execPath, [CLI, 'serve', config, flag])
      expectRefused(ran, `${flag.replace(/=.*/, '')} needs options`, 'config.ts is a handler')
    },
  )

  it.each([
    ['a folder', 'config.ts'],
    ['another ending', 'config.json'],
  ])('must not be %s', async (_, name) => {
    const path = join(temporaryFolder(), name)
    mkdirSync(path)
    const ran = await run(process.execPath, [CLI, 'serve', path])
    expectRefused(ran, 'the config file must be a', name)
  })

  it('may be CommonJS', async () => {
    const config = writeConfig("module.exports = { basePath: '/own' }", 'config.js')
    const root = await rootOf(serve([config, '--demo']))
    expect(await statusOf(`${root}/own/v1/latest`)).toBe(200)
  })

  it('may name events and a store, which --demo leaves empty', async () => {
    const config = writeConfig(`
      const texts = new Map()
      export default {
        store: { get: (key) => texts.get(key), set: (key, text) => void texts.set(key, text, console.log('stored', key)) },
        onEvent: ({ type }) => console.log('event', type),
      }
    `)
    const { env } = await startUpstreams()
    const running = serve([config], env)
    expect(await statusOf(`${await rootOf(running)}/api/v1/latest`)).toBe(200)
    await running.written(/^stored rates:v1:latest$/m)
    await running.written(/^event upstream_request$/m)
    await running.end()
    expect(running.stderr).toBe('')
    const demo = serve([config, '--demo', '--log', 'json'])
    expect(await statusOf(`${await rootOf(demo)}/api/v1/latest`)).toBe(200)
    await demo.written(/^event upstream_response$/m)
    await demo.end()
    expect(demo.stdout).not.toContain('stored')
    expect(demo.stderr).toContain('"event":"upstream_response"')
  })

  it('without access is reported at the start, whether it has options or a handler', async () => {
    const note = 'Clients without a key are not limited'
    const handler = `
      import { createRatesHandler } from 'ratesmith'
      import { fakeProviders } from 'ratesmith/testing'
      export default createRatesHandler({ providers: fakeProviders() })
    `
    for (const args of [[writeConfig('export default {}'), '--demo'], [writeConfig(handler)]]) {
      await serve(args).written(new RegExp(`^${note}: `, 'm'))
    }
    const open = serve(['--demo'])
    await open.written(/v1\/status\n/)
    await open.end()
    expect(open.stdout).not.toContain(note)
  })
})

describe('a documented config', () => {
  async function createKey(): Promise<{ file: string; key: string }> {
    const file = join(temporaryFolder(), 'keys.json')
    const args = ['keys', 'create', '--plan', 'pro', '--name', 'acme', '--keys', file]
    return { file, key: (await piped(NODE, args)).stdout.trim() }
  }

  it('serves a public API with keys behind a proxy', async () => {
    const { file, key } = await createKey()
    const config = join(ROOT, 'examples/serve-public.ts')
    const running = serve([config, '--demo'], { RATESMITH_KEYS: file })
    const root = await rootOf(running)
    const url = `${root}/api/v1/status`
    const policyOf = async (headers: Record<string, string>): Promise<string | null> =>
      (await fetch(url, { headers })).headers.get('ratelimit-policy')
    expect(await policyOf({})).toBe('"burst";q=60;w=60')
    expect(await policyOf({ 'x-api-key': key })).toBe('"burst";q=600;w=60, "month";q=100000')
    const statuses = new Map<string, number[]>()
    for (const client of ['192.0.2.1', '192.0.2.2']) {
      const all = Array.from({ length: 61 }, () => statusOf(url, { 'x-forwarded-for': client }))
      statuses.set(client, await Promise.all(all))
    }
    for (const each of statuses.values()) {
      expect(each.filter((status) => status === 200).length).toBeGreaterThanOrEqual(60)
      expect(each).toContain(429)
    }
    expect(await (await fetch(`${root}/metrics`)).text()).toMatch(/ratesmith_limits_reached_total/)
    await running.end()
    expect(running.stdout).toMatch(/^\{.*"path":"\/api\/v1\/status","status":429,.*\}$/m)
    expect(running.stdout).not.toMatch(/192\.0\.2|are not limited|The terms of/)
  })

  it('serves the paths of other services, and a new one', async () => {
    const root = await rootOf(serve([join(ROOT, 'examples/serve-compat.ts'), '--demo']))
    const bodyOf = async (path: string) => (await fetch(`${root}${path}`)).json()
    expect(await bodyOf('/v1/latest?symbols=USD')).toMatchObject({ amount: 1, base: 'EUR' })
    expect(await bodyOf('/latest?symbols=USD')).toMatchObject({ success: true, base: 'EUR' })
    expect(await bodyOf('/api/latest.json')).toMatchObject({ base: 'USD' })
    expect(await bodyOf('/price/EUR')).toEqual({ price: expect.stringMatching(/^\d+\.\d\d$/) })
    expect(await bodyOf('/price/XYZ')).toMatchObject({ error: { code: 'invalid_currency' } })
  })

  it('stops the start without the file of the keys', async () => {
    const config = join(ROOT, 'examples/serve-public.ts')
    const env = { RATESMITH_KEYS: join(temporaryFolder(), 'none.json') }
    expectRefused(await run(process.execPath, [CLI, 'serve', config], { env }), 'none.json')
  })

  it.skipIf(REDIS_IS_MISSING)(
    'serves a fleet that shares rates and counters in Redis',
    async () => {
      const { file, key } = await createKey()
      const redis = await startRedis()
      onTestFinished(() => redis.kill())
      const { env, calls } = await startUpstreams()
      const own = { ...env, REDIS_URL: redis.url, RATESMITH_KEYS: file }
      const config = join(ROOT, 'examples/serve-fleet.ts')
      const bodyOf = async (root: string): Promise<string> =>
        (await fetch(`${root}/api/v1/latest`, { headers: { 'x-api-key': key } })).text()
      const first = await rootOf(serve([config], own))
      const body = await bodyOf(first)
      await expect.poll(() => statusOf(`${first}/readyz`)).toBe(200)
      const before = calls.length
      const running = serve([config], own)
      const second = await rootOf(running)
      expect(await bodyOf(second)).toBe(body)
      // On a busy machine, the first read of the store may take longer than its 50 ms.
      expect(calls.length === before || running.stderr.includes('store_failed')).toBe(true)
      const url = (root: string): string => `${root}/api/v1/status`
      const statuses: number[] = []
      for (let time = 0; time < 40; time += 1) {
        for (const root of [first, second]) statuses.push(await statusOf(url(root)))
      }
      expect(statuses).toContain(429)
      expect(statuses.filter((status) => status === 200).length).toBeLessThan(75)
      expect(await (await fetch(`${second}/metrics`)).text()).toContain('ratesmith_data_ready')
    },
  )
})
