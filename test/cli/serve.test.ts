import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Agent, fetch } from 'undici'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { createKey } from '../../src/access/index.ts'
import { pairsOf } from '../fixtures/rows.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'
import { OPENSSL_IS_MISSING, makeCertificate } from '../system/certificate.ts'
import { publish, run } from './run.ts'
import type { Surroundings } from './run.ts'

const SOURCES = new URL('../../src/', import.meta.url).href

/** Writes a config file, whose imports from `ratesmith` are those of the sources. */
function configOf(text: string, name = 'config.ts'): string {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, text.replaceAll(/'ratesmith\/?([\w/-]*)'/g, `'${SOURCES}$1/index.ts'`))
  return path
}

/** Starts `ratesmith serve` in this process, which `stop` ends as a signal does. */
async function start(args: string[], surroundings: Surroundings = {}) {
  const signals = new Map<string | symbol, (signal: string) => void>()
  const { on } = process
  const exit = vi.spyOn(process, 'exit')
  // @ts-expect-error it returns, because this process goes on
  exit.mockReturnValue(undefined)
  vi.spyOn(process, 'kill').mockReturnValue(true)
  vi.spyOn(process, 'on').mockImplementation((event, listener) => {
    if (!/^SIG(INT|TERM)$/.test(String(event))) return Reflect.apply(on, process, [event, listener])
    signals.set(event, listener)
    return process
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const listening = Promise.withResolvers<string>()
  const printed = { text: '' }
  const onPrint = (text: string): void => {
    printed.text += text
    const [, url] = /^ratesmith listens on (\S+)/m.exec(printed.text) ?? []
    if (url !== undefined) listening.resolve(url)
  }
  const running = run(['serve', '--port', '0', ...args], { ...surroundings, onPrint })
  void running.then(({ stderr }) => listening.reject(new Error(stderr)))
  const root = await listening.promise
  const ended = async (signal: string) => {
    signals.get(signal)?.(signal)
    return running
  }
  const stop = async (signal = 'SIGTERM') => {
    const { stderr } = await ended(signal)
    expect(exit).toHaveBeenCalledWith(0)
    return { stderr, stdout: printed.text.replaceAll(root, 'ROOT') }
  }
  onTestFinished(() => void ended('SIGTERM'))
  const get = (path: string, init: Parameters<typeof fetch>[1] = {}) =>
    fetch(root + path, { redirect: 'manual', ...init })
  const statusOf = async (path: string, init = {}) => (await get(path, init)).status
  return { root, get, statusOf, stop, printed }
}

describe('ratesmith serve', () => {
  it('prints where it listens, serves rates and probes, and stops at a signal', async () => {
    const { get, statusOf, stop } = await start(['--demo'])
    expect((await get('/api/v1/latest')).headers.get('content-encoding')).toBe('gzip')
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await get('/', { method })
      const sent = ['location', 'cache-control', 'content-length'].map((name) => headers.get(name))
      expect([status, ...sent]).toEqual([302, '/api/', 'no-cache', '10'])
    }
    expect(await (await get('/')).text()).toBe('See /api/\n')
    expect(await statusOf('/', { method: 'POST' })).toBe(404)
    for (const path of ['/metrics', '/healthz/', '/other']) expect(await statusOf(path)).toBe(404)
    expect(await (await get('/healthz?probe=1')).json()).toEqual({ status: 'alive' })
    await expect.poll(() => statusOf('/readyz')).toBe(200)
    const { stdout, stderr } = await stop()
    expect(stdout).toBe(`ratesmith listens on ROOT with synthetic rates
Try:
  ROOT/api/ in a browser
  ROOT/api/v1/latest?base=EUR&symbols=USD,GBP,JPY
  ROOT/api/v1/convert?from=USD&to=EUR&amount=100
  ROOT/api/v1/history?from=USD&to=EUR&period=1M
  ROOT/api/v1/status
`)
    const events = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).event)
    expect(events).toEqual(expect.arrayContaining(['upstream_request', 'rates_updated']))
    await expect(get('/healthz')).rejects.toThrow('fetch failed')
  })

  it('has the flags --base-path, --host, --log, --latest, --history and --pegs', async () => {
    const names = ['--latest', 'exchange-rate-api', '--history', 'frankfurter']
    const args = ['--base-path', '/own', '--host', '[127.0.0.1]', '--log', 'text', '--pegs']
    const { root, get, stop } = await start([...args, ...names], { fetch: publish() })
    expect(root).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const day = await get('/own/v1/convert?from=USD&to=AED&date=2026-11-20')
    expect(await day.json()).toMatchObject({ rate: 3.6725, derived: 'peg' })
    const { stdout, stderr } = await stop('SIGINT')
    expect(stdout).toContain('  ROOT/own/v1/status\n')
    expect(stdout).toMatch(/^ratesmith listens on ROOT\n/)
    expect(stderr).toMatch(
      /^ratesmith: history rates: European Central Bank .* responded in \d+ ms\n/,
    )
  })

  it('gives way to the explorer with an empty base path', async () => {
    const { get, statusOf } = await start(['--demo', '--base-path', ''])
    expect(await (await get('/')).text()).toContain('<title>')
    expect([await statusOf('/healthz'), await statusOf('/v1/latest')]).toEqual([200, 200])
  })

  it('has quotes by RATESMITH_QUOTE_SECRETS, which hold for synthetic rates only with --demo', async () => {
    const env = { RATESMITH_QUOTE_SECRETS: 'former-secret-of-32-bytes-or-more' }
    const path = '/api/v1/quote?from=USD&to=EUR'
    const demo = await start(['--demo'], { env })
    const { quote } = Object(await (await demo.get(path)).json())
    expect(await demo.statusOf(`/api/v1/convert?quote=${quote}`)).toBe(200)
    const real = await start([], { env, fetch: publish() })
    expect(await real.statusOf(`/api/v1/convert?quote=${quote}`)).toBe(400)
    const secrets = `current-secret-of-32-bytes-or-more,${env.RATESMITH_QUOTE_SECRETS}`
    const next = await start(['--demo'], { env: { RATESMITH_QUOTE_SECRETS: secrets } })
    expect(await next.statusOf(`/api/v1/convert?quote=${quote}`)).toBe(200)
    const file = configOf(`export default { quotes: { secrets: ['${'x'.repeat(32)}'] } }`)
    const own = await start([file, '--demo'], { env })
    expect(await own.statusOf(`/api/v1/convert?quote=${quote}`)).toBe(400)
    expect(await (await start(['--demo'])).statusOf(path)).toBe(404)
  })

  it.each(['rates', 'rates.db'])(
    'keeps rates in --store %s, which --demo leaves empty',
    async (name) => {
      const place = join(temporaryFolder(), name)
      const kept = (): string[] =>
        existsSync(place) ? (name === 'rates' ? readdirSync(place) : [name]) : []
      await (await start(['--demo'], { env: { RATESMITH_STORE: place } })).stop()
      expect(kept()).toEqual([])
      const first = await start(['--store', place], { fetch: publish() })
      expect(await first.statusOf('/api/v1/latest')).toBe(200)
      await first.stop()
      await expect.poll(kept).not.toEqual([])
      const second = await start([], { env: { RATESMITH_STORE: place } })
      expect(await second.statusOf('/api/v1/latest')).toBe(200)
    },
  )

  it('exits with 1 if it cannot listen', async () => {
    const { root } = await start(['--demo'])
    const { port } = new URL(root)
    const stderr = `ratesmith: port ${port} on 127.0.0.1 is already in use; choose another with --port\n`
    const busy = await run(['serve', '--demo', '--port', port])
    expect(busy).toEqual({ code: 1, stdout: '', stderr })
    const away = await run(['serve', '--demo', '--port', '0', '--host', '192.0.2.1'])
    const reason = /^ratesmith: cannot listen on 192\.0\.2\.1, port 0: listen EADDR/
    expect(away).toMatchObject({ code: 1, stderr: expect.stringMatching(reason) })
  })
})

const FAKES =
  "import { createRatesHandler } from 'ratesmith'\nimport { fakeProviders } from 'ratesmith/testing'\n"
const LIMITS = "import { createAccess } from 'ratesmith/access'\n"

/** Config files with their messages, which may continue. */
const WRONG_CONFIGS = `
  export const server = {} => FILE has no default export; export the options of createRatesHandler, a handler or { fetch } (
  export default 5 => the default export of FILE must be the options of createRatesHandler, a handler or { fetch }, got a number (
  export default null => the default export of FILE must be the options of createRatesHandler, a handler or { fetch }, got null (
  export default [{}] => the default export of FILE must be the options of createRatesHandler, a handler or { fetch }, got an array (
  export default Promise.resolve({}) => the default export of FILE must be the options of createRatesHandler, a handler or { fetch }, got a promise; await it in the file (
  export default { corss: 'all' } => FILE: unknown option "corss"; did you mean "cors"? (
  export default { cors: 'every' } => FILE: cors must be
  export default { providers: { lates: 1 } } => FILE: unknown option "providers.lates"; did you mean "providers.latest"? (
  export default { providers: { latest: 1 } } => FILE: providers.latest
  export default { basePath: 'own' } => FILE: basePath must be '' or an absolute path
  export default {}; export const server = { metric: true } => FILE: unknown option "server.metric"; did you mean "server.metrics"? (
  export default {}; export const server = 5 => FILE: server must be an object, got 5 (
  export default {}; export const server = { compress: 1 } => FILE: server.compress must be true or false, got 1 (
  export default {}; export const server = { metrics: 'yes' } => FILE: server.metrics must be true or false, got yes (
  export default {}; export const server = { accessLog: null } => FILE: server.accessLog must be true or false, got null (
  export default {}; export const server = { accessLog: { clients: 1 } } => FILE: server.accessLog.clients must be true or false, got 1 (
  export default {}; export const server = { accessLog: { client: true } } => FILE: unknown option "server.accessLog.client"; did you mean "server.accessLog.clients"? (
  export default {}; export const servr = {} => FILE: unknown export "servr"; did you mean "server"? (
  export default function () {}; export const server = { accessLog: true } => FILE: server.accessLog needs a handler of createRatesHandler() (
  export default function () {}; export const server = { metrics: true } => FILE: server.metrics needs a handler of createRatesHandler() (
  export default {}; export const server = { tls: {} } => FILE: server.tls.key must be the text of a PEM private key without a passphrase (
  export default {}; export const server = { tls: { keys: '' } } => FILE: unknown option "server.tls.keys"; did you mean "server.tls.key"? (`

describe('a config file of serve', () => {
  it('has options, of which a flag counts more', async () => {
    const file = configOf(`${FAKES}const { history } = fakeProviders()
      export default { basePath: '/own', explorer: false, cors: 'all', providers: { history } }
      export const server = { compress: false }`)
    const sourceOf = async ({ get }: Awaited<ReturnType<typeof start>>, path: string) =>
      Object(await (await get(path)).json()).source.name
    const own = await start([file], { fetch: publish() })
    expect(await sourceOf(own, '/own/v1/latest')).toContain('Exchange Rate API')
    expect(await sourceOf(own, '/own/v1/history?from=USD&to=EUR')).toContain('Synthetic')
    const { headers } = await own.get('/own/rates')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('content-encoding')).toBeNull()
    expect((await own.get('/')).headers.get('location')).toBe('/own/v1')
    expect((await own.stop()).stdout).toMatch(
      /\nTry:\n {2}ROOT\/own\/v1\/latest[^]*\nClients without a key are not limited: set the option access, see docs\/keys-and-limits\.md\.\n$/,
    )
    const flags = ['--base-path', '/flag', '--history', 'frankfurter']
    const other = await start([file, ...flags], { fetch: publish() })
    expect(await sourceOf(other, '/flag/v1/history?from=USD&to=EUR')).toContain('European Central')
    expect(await other.statusOf('/own/v1/latest')).toBe(404)
  })

  it('may turn a data set off, and be CommonJS', async () => {
    const file = configOf('module.exports = { providers: { history: false } }', 'config.js')
    const { get, statusOf } = await start([file], { fetch: publish() })
    expect(await statusOf('/api/v1/latest')).toBe(200)
    expect(await (await get('/api/v1/status')).json()).toMatchObject({ history: null })
  })

  it('may have events and a store, which --demo leaves empty', async () => {
    const file = configOf(`globalThis.texts = new Map()
      globalThis.seen = []
      export default {
        store: { get: (key) => texts.get(key), set: (key, text) => void texts.set(key, text) },
        onEvent: ({ type }) => void seen.push(type),
      }`)
    const demo = await start([file, '--demo', '--log', 'json'])
    expect(await demo.statusOf('/api/v1/latest')).toBe(200)
    const state: { texts: Map<string, string>; seen: string[] } = Object(globalThis)
    expect([...state.texts.keys()]).toEqual([])
    expect(state.seen).toContain('rates_updated')
    expect((await demo.stop()).stderr).toContain('"event":"upstream_response"')
    const own = await start([file], { fetch: publish() })
    expect(await own.statusOf('/api/v1/latest')).toBe(200)
    await expect.poll(() => [...state.texts.keys()]).toEqual(['rates:v1:latest'])
    expect((await own.stop()).stderr).toBe('')
    Reflect.deleteProperty(globalThis, 'texts')
    Reflect.deleteProperty(globalThis, 'seen')
  })

  it('may require keys, with metrics and a log without addresses', async () => {
    const { key, hash } = await createKey()
    const file = configOf(`${LIMITS}export default {
        access: createAccess({
          keys: { find: (hash) => (hash === '${hash}' ? { id: 'a', plan: 'pro' } : undefined) },
          plans: { pro: '1/min' },
          queryParameters: ['session'],
        }),
      }
      export const server = { metrics: true, accessLog: true }`)
    const { get, statusOf, stop } = await start([file], { fetch: publish() })
    expect(await statusOf('/api/v1/latest?session[]=secret')).toBe(401)
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': 'from-the-proxy' }
    expect([
      await statusOf('/api/v1/latest', { headers }),
      await statusOf('/api/v1/latest', { headers }),
    ]).toEqual([200, 429])
    expect(await (await get('/metrics')).text()).toContain(
      'ratesmith_limits_reached_total{plan="pro",limit="burst"} 1',
    )
    const { stdout } = await stop()
    const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { status: 401, query: 'session[]=REDACTED', time: '2026-11-20T19:05:59.000Z' },
      { status: 200, id: 'from-the-proxy' },
      { status: 429 },
    ])
    expect(lines.join('')).not.toMatch(/client|127\.0\.0\.1|rsk_/)
    expect(stdout).toContain(
      'The terms of Rates By Exchange Rate API forbid serving its rates to others; use for example --latest fawazahmed0,ecb --history ecb\n',
    )
  })

  it('may log the addresses behind proxies', async () => {
    const file = configOf(
      'export default { trustedProxies: 1 }\nexport const server = { accessLog: { clients: true } }',
    )
    const { get, stop } = await start([file, '--demo'])
    await get('/api/v1/status', { headers: { 'x-forwarded-for': '192.0.2.7' } })
    expect((await stop()).stdout).toContain('"client":"192.0.2.7"')
  })

  it('may have a handler, with metrics', async () => {
    const file = configOf(`${FAKES}export default createRatesHandler({ providers: fakeProviders() })
      export const server = { metrics: true }`)
    const { get, statusOf, stop } = await start([file])
    expect(await statusOf('/api/v1/latest')).toBe(200)
    await expect.poll(() => statusOf('/readyz')).toBe(200)
    expect(await (await get('/metrics')).text()).toContain('route="/v1/latest"')
    expect(await statusOf('/')).toBe(404)
    expect((await stop()).stdout).toBe(
      'ratesmith listens on ROOT\nClients without a key are not limited: set the option access, see docs/keys-and-limits.md.\n',
    )
  })

  it.each([
    ['{ fetch }', 'export default { fetch: respond }'],
    ['a function', 'export default respond'],
    ['an instance', 'export default new (class { store = 1; fetch = respond })()'],
  ])('may have %s of another program, with probes', async (_, text) => {
    const respond =
      "const respond = (request) => new Response('own ' + new URL(request.url).pathname)"
    const { get, statusOf, stop } = await start([configOf(`${respond}\n${text}`, 'config.mjs')])
    expect(await (await get('/any')).text()).toBe('own /any')
    expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200])
    expect((await stop()).stdout).toBe('ratesmith listens on ROOT\n')
  })

  it.each([
    ["const a = 1\nthrow new TypeError('first\\nsecond')", 'FILE:2: first; second'],
    ...pairsOf(WRONG_CONFIGS),
  ])('exits with 2 and one line for %s', async (text, message) => {
    const file = configOf(text)
    const { code, stdout, stderr } = await run(['serve', '--port', '0', file])
    const line = stderr.replaceAll(file, 'FILE')
    const start = `ratesmith: ${message}`
    expect([code, stdout, line.slice(0, start.length)]).toEqual([2, '', start])
    expect(line).toMatch(/^[^\n]+ \(see ratesmith help serve\)\n$/)
  })

  it.each(['--demo', '--base-path=/own', '--latest=ecb', '--pegs', '--store=rates', '--log=json'])(
    'with a handler refuses %s',
    async (flag) => {
      const file = configOf('export default () => new Response()')
      const { code, stderr } = await run(['serve', file, flag])
      const message = `${flag.replace(/=.*/, '')} needs options: the default export of ${file} is a handler`
      expect([code, stderr]).toEqual([2, `ratesmith: ${message} (see ratesmith help serve)\n`])
    },
  )

  it('must not be a folder', async () => {
    const path = join(temporaryFolder(), 'config.ts')
    mkdirSync(path)
    const stderr = expect.stringContaining('the config file must be a .ts')
    expect(await run(['serve', path])).toMatchObject({ code: 2, stderr })
  })
})

describe.skipIf(OPENSSL_IS_MISSING)('HTTPS', () => {
  let files = { key: '', cert: '', other: '' }
  beforeEach(() => {
    const folder = temporaryFolder()
    const { key, cert } = makeCertificate(folder, 'one', ['IP:127.0.0.1'])
    files = { key, cert, other: makeCertificate(folder, 'other', ['IP:127.0.0.1']).cert }
  })

  const configWith = (key: string, cert: string): string =>
    configOf(`import { readFileSync } from 'node:fs'
      const read = (path) => readFileSync(path, 'utf8')
      export default {}
      export const server = { tls: { key: ${key}, cert: ${cert} } }`)

  it('is served with the key and the chain of a config file, also with other text in them', async () => {
    const { key, cert } = files
    const config = configWith(`'text ' + read('${key}')`, `read('${cert}') + 'text'`)
    const { root, get } = await start([config, '--demo'])
    expect(root).toMatch(/^https:/)
    const dispatcher = new Agent({ connect: { ca: readFileSync(cert, 'utf8') } })
    onTestFinished(async () => dispatcher.close())
    expect((await get('/healthz', { dispatcher })).status).toBe(200)
    await expect(get('/healthz')).rejects.toThrow('fetch failed')
  })

  const NO_KEY = 'server.tls.key must be the text of a PEM private key without a passphrase'
  const NO_CERT = 'server.tls.cert must be the text of a PEM certificate'
  const NO_MATCH = 'server.tls.key must match the certificate in server.tls.cert'

  it.each([
    ["read('CERT')", "read('CERT')", NO_KEY],
    ["read('KEY')", "read('KEY')", NO_CERT],
    ["read('KEY')", "read('CERT').slice(0, -40)", NO_CERT],
    ["read('KEY')", "read('CERT') + read('CERT').slice(0, 99)", NO_CERT],
    ["read('KEY')", "read('OTHER')", NO_MATCH],
  ])('refuses another key or certificate: %s, %s', async (key, cert, message) => {
    const inPlace = (text: string) =>
      text.replace(/KEY|CERT|OTHER/g, (name) => Object(files)[name.toLowerCase()])
    const path = configWith(inPlace(key), cert.replaceAll(/'(.*?)'/g, inPlace))
    const { code, stderr } = await run(['serve', path, '--demo'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`: ${message} (see`)])
  })
})
