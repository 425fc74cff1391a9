// `ratesmith serve` in this process, from source. test/system/serve.test.ts has what depends on the runtime.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'

import { ENTRY_POINTS } from '../../scripts/entry-points.ts'
import { PAGES } from '../../src/cli/help.ts'
import { createRates, createRatesHandler } from '../../src/index.ts'
import { createQuotes } from '../../src/quotes/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { run } from '../cli/run.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { OPENSSL_IS_MISSING, makeCertificate } from '../system/certificate.ts'
import { startUpstreams, upstreams } from '../system/commands.ts'
import { listen, temporaryFolder } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'
import { freePort, openSocket, portIn } from '../system/sockets.ts'

const CONVERT = '/api/v1/convert?from=USD&to=EUR'

type Stop = (signal: NodeJS.Signals) => void

/** Listeners for signals; the other ones belong to Vitest. */
const stops: Stop[] = []
let endings: unknown[] = []

beforeAll(() => {
  const { on } = process
  const spies = [
    vi.spyOn(process, 'on').mockImplementation((event, listener) => {
      if (event !== 'SIGTERM' && event !== 'SIGINT') return on.call(process, event, listener)
      if (event === 'SIGTERM') stops.push(listener)
      return process
    }),
    vi.spyOn(process, 'exit').mockImplementation(Object((code: number) => endings.push(code))),
    vi.spyOn(process, 'kill').mockReturnValue(true),
  ]
  return () => spies.forEach((spy) => spy.mockRestore())
})

type Served = Awaited<ReturnType<typeof serve>>

/** Runs `ratesmith serve` on a free port until the end of the test; `exit` is its code if it does not listen. */
async function serve(args: string[], env: NodeJS.ProcessEnv = {}, isTTY = false) {
  const served = { root: '', stdout: '', stderr: '', exit: undefined as number | undefined }
  const { promise: isListening, resolve } = Promise.withResolvers<Stop | undefined>()
  const write = (name: 'stdout' | 'stderr') => (text: string) => {
    served[name] += text
    const [root] = /https?:\/\/\S+:\d+/.exec(served.stdout) ?? []
    if (root === undefined || served.root !== '') return
    served.root = root
    // It listens for signals in the same turn.
    queueMicrotask(() => resolve(stops.at(-1)))
  }
  const output = (name: 'stdout' | 'stderr') => ({ isTTY, on() {}, write: write(name) })
  const given = args.includes('--port') ? args : ['--port', '0', ...args]
  const ended = run(['serve', ...given], {
    env,
    now: Date.now,
    fetch: undefined,
    ...Object({ stdout: output('stdout'), stderr: output('stderr') }),
  })
  const exited = ended.then(({ code }): undefined => void (served.exit = code))
  const stop = await Promise.race([isListening, exited])
  const end = async (): Promise<void> => {
    stop?.('SIGTERM')
    await exited
  }
  onTestFinished(end)
  return Object.assign(served, { end })
}

/** Writes a config file that imports the sources of the package. */
function config(text: string, name = 'config.ts', folder = temporaryFolder()): string {
  const path = join(folder, name)
  const adapted = text.replaceAll(/'ratesmith((?:\/[\w/-]+)?)'/g, (_, entry: string) => {
    const { source = '' } = ENTRY_POINTS.find(({ subpath }) => subpath === `.${entry}`) ?? {}
    return `'${pathToFileURL(join(ROOT, source)).href}'`
  })
  writeFileSync(path, adapted)
  return path
}

const optionsAnd = (server: string): string => `export default {}\nexport const server = ${server}`

const HANDLER = `
  import { createRatesHandler } from 'ratesmith'
  import { fakeProviders } from 'ratesmith/testing'
  export default createRatesHandler({ providers: fakeProviders() })`

async function statusOf(url: string, init: RequestInit = {}): Promise<number> {
  return (await fetch(url, { redirect: 'manual', ...init })).status
}

async function bodyOf(url: string, init: RequestInit = {}) {
  return Object(await (await fetch(url, init)).json())
}

/** Upstreams that respond after `release()`; `requested` resolves with their first request. */
async function startHangingUpstreams() {
  const { promise: requested, resolve } = Promise.withResolvers<void>()
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const gate = (): Promise<void> => (resolve(), promise)
  const { env } = await startUpstreams(upstreams(openErApiPayload({ now: Date.now() }), gate))
  return { env, requested, release }
}

function expectRefused({ exit, stdout, stderr }: Served, ...facts: string[]): void {
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
  expect(stderr).toMatch(/^ratesmith: [^\n]+\n$/)
  for (const fact of facts) expect(stderr).toContain(fact)
}

describe('ratesmith serve', () => {
  it('prints URLs that work, needs no network with --demo, and stops on a signal', async () => {
    endings = []
    const served = await serve(['--demo', '--base-path', '/fx'], { RATESMITH_LATEST_URL: 'x' })
    const { root, stdout, stderr } = served
    expect(root).toMatch(/^http:\/\/127\.0\.0\.1:/)
    const [first, ...lines] = stdout.trimEnd().split('\n')
    expect(first).toBe(`ratesmith listens on ${root} with synthetic rates`)
    const paths = ['latest?base=EUR&symbols=USD,GBP,JPY', 'convert?from=USD&to=EUR&amount=100']
    const all = [...paths, 'history?from=USD&to=EUR&period=1M', 'status']
    expect(lines).toEqual([
      'Try:',
      `  ${root}/fx/ in a browser`,
      ...all.map((path) => `  ${root}/fx/v1/${path}`),
    ])
    for (const path of all) {
      expect(await (await fetch(`${root}/fx/v1/${path}`)).text()).toContain('Synthetic')
    }
    expect(stderr).not.toMatch(/"level":"(warn|error)"/)
    await served.end()
    expect(endings).toEqual([0])
    await expect(fetch(root)).rejects.toThrow('fetch failed')
  })

  it('logs one line that names the upstream when it cannot be reached', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const env = { RATESMITH_LATEST_URL: url, RATESMITH_HISTORY_URL: url }
    for (const served of [await serve(['--log', 'text'], env), await serve([], env, true)]) {
      const response = await fetch(`${served.root}/api/rates`)
      expect([response.status, await response.json()]).toEqual([
        502,
        { error: 'The exchange-rate provider is unavailable. Please retry shortly.' },
      ])
      const host = new URL(url).host
      const line = new RegExp(`^ratesmith: .*latest.*Rates By.*${host}.*ECONNREFUSED.*\n`)
      await expect.poll(() => served.stderr).toMatch(line)
    }
  })

  it('logs every event as one line of JSON unless stderr is a terminal, and shortens long ones', async () => {
    const junk = Object.fromEntries(Array.from({ length: 9_000 }, (_, code) => [`x${code}`, 1]))
    const { rates, ...payload } = Object(JSON.parse(openErApiPayload({ now: Date.now() })))
    const bodies = [
      JSON.stringify({ result: 'error', 'error-type': 'a\nb\u2028\u202ec' }),
      JSON.stringify({ ...payload, rates: { ...rates, ...junk } }),
    ]
    const read: { status: number; stderr: string }[] = []
    for (const body of bodies) {
      const { env } = await startUpstreams(upstreams(body))
      const served = await serve([], env)
      const status = await statusOf(`${served.root}/api/rates`)
      read.push({ status, stderr: served.stderr })
    }
    expect(read.map(({ status }) => status)).toEqual([502, 200])
    const [stderr = '', long = ''] = read.map((each) => each.stderr)
    expect(
      stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { level: 'info', event: 'upstream_request', dataSet: 'latest', time: expect.any(String) },
      { level: 'warn', event: 'upstream_failed', reason: expect.stringContaining('127.0.0.1') },
      { level: 'warn', event: 'refresh_failed' },
      { level: 'info', event: 'refresh_scheduled', at: expect.any(Number) },
    ])
    expect(stderr).toMatch(/^[\x20-\x7e\n]+$/)
    expect(long).toMatch(/"[^",]*\b8980\b[^",]*"\]/)
    expect(long.length).toBeLessThan(2_000)
  })

  it.each(['--store', 'RATESMITH_STORE'])(
    'serves its last rates after a restart, by %s',
    async (by) => {
      const folder = temporaryFolder()
      const { env, stop } = await startUpstreams()
      const [args, more] = by === '--store' ? [[by, folder], {}] : [[], { [by]: folder }]
      const first = await serve(args, { ...env, ...more })
      const body = await (await fetch(`${first.root}/api/rates`)).text()
      const stored = () => readdirSync(folder).filter((name) => name.endsWith('.cache'))
      await expect.poll(stored).toHaveLength(1)
      await first.end()
      await stop()
      const second = await serve([...args, '--log', 'text'], { ...env, ...more })
      // On a busy machine the first read of the store may time out.
      const read = async (): Promise<string> => (await fetch(`${second.root}/api/rates`)).text()
      await expect.poll(read).toBe(body)
      expect(second.stderr).toMatch(/^ratesmith: .*latest.*\bstore\b.*\b20\d\d-/m)
    },
  )

  it('calls the named providers, and prints no key', async () => {
    const key = 'open-sesame-0123456789'
    const paths: string[] = []
    const { url } = await listen((request, response) => {
      paths.push(request.url ?? '')
      if (request.url?.startsWith('/v6/')) response.end(openErApiPayload({ now: Date.now() }))
      else response.writeHead(503).end(JSON.stringify(request.headers))
    })
    const served = await serve(['--latest', 'currencyapi,exchange-rate-api'], {
      RATESMITH_LATEST_URL: `${url},${url}`,
      RATESMITH_CURRENCYAPI_KEY: key,
    })
    const { source } = await bodyOf(`${served.root}/api/v1/latest`)
    expect(source.name).toBe('Rates By Exchange Rate API')
    expect(paths).toEqual(['/v3/latest', '/v6/latest/USD'])
    expect(served.stderr).toContain('"event":"upstream_failed"')
    expect(served.stderr + served.stdout).not.toContain(key)
  })

  it('exits with 1 and one line for a port in use, or an address of another machine', async () => {
    const { url } = await listen(() => {})
    const { exit, stderr } = await serve(['--demo', '--port', String(portIn(url))])
    const advice = 'already in use; choose another with --port\n'
    expect([exit, stderr]).toEqual([1, `ratesmith: port ${portIn(url)} on 127.0.0.1 is ${advice}`])
    const other = await serve(['--demo', '--host', '192.0.2.1'])
    expect([other.exit, other.stderr]).toEqual([
      1,
      expect.stringMatching(/^ratesmith: cannot listen on 192\.0\.2\.1, port 0: [^\n]+\n$/),
    ])
  })

  it('listens on an IPv6 address in brackets', async () => {
    const { root } = await serve(['--demo', '--host', '[::1]'])
    expect(root).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect(await statusOf(`${root}${CONVERT}`)).toBe(200)
  })

  it.each([
    [['--host', ''], {}, '--host must be an address'],
    [['--port', '65536'], {}, '--port must be a number from 0 to 65535, got 65536'],
    [['--demo', '--store', 'a'], {}, '--demo'],
    [['--base-path', 'x'], {}, '--base-path'],
    [[], { RATESMITH_KEYS: 'keys.json' }, 'RATESMITH_KEYS needs a config file'],
    [[], { HTTPS_PROXY: 'ftp://someone:hidden@127.0.0.1' }, 'HTTPS_PROXY must be an http(s) URL'],
    [[], { RATESMITH_STORE: 'http://ada:hidden@x' }, 'RATESMITH_STORE must be a URL'],
  ])('exits with 2 for %j %j', async (args, env, fact) => {
    const served = await serve(args, env)
    expectRefused(served, fact)
    expect(served.stderr).not.toContain('hidden')
  })
})

it.each(PAGES.serve.examples)('has an example in its help: %s', async (example) => {
  const folder = temporaryFolder()
  const file = config("export default { basePath: '/own' }", 'config.ts', folder)
  const [name, command, ...args] = example.split(' ')
  expect([name, command]).toEqual(['ratesmith', 'serve'])
  const { env } = await startUpstreams()
  const places: Record<string, string> = { rates: join(folder, 'rates'), 'config.ts': file }
  const { root } = await serve(
    args.map((word) => places[word] ?? word),
    env,
  )
  const basePath = args.includes('config.ts') ? '/own' : '/api'
  expect(await statusOf(`${root}${basePath}/v1/latest`)).toBe(200)
  await expect.poll(() => existsSync(join(folder, 'rates'))).toBe(args.includes('rates'))
})

describe('the paths of a server', () => {
  it('are alive at once, and ready with rates only', async () => {
    const { env, release } = await startHangingUpstreams()
    const { root } = await serve([], env)
    const ready = await fetch(`${root}/readyz`)
    expect([ready.status, ready.headers.get('cache-control')]).toEqual([503, 'no-store'])
    expect(await statusOf(`${root}/healthz?probe=1`)).toBe(200)
    const head = await fetch(`${root}/healthz`, { method: 'HEAD' })
    expect([head.status, Number(head.headers.get('content-length')) > 0]).toEqual([200, true])
    release()
    // Without any other request.
    await expect.poll(() => statusOf(`${root}/readyz`)).toBe(200)
  })

  it('are not ready while the server finishes its responses', async () => {
    const { env, requested, release } = await startHangingUpstreams()
    const { root, end } = await serve([], env)
    const socket = await openSocket(portIn(root))
    let received = ''
    socket.on('data', (chunk) => (received += String(chunk)))
    socket.write('GET /api/rates HTTP/1.1\r\nhost: a\r\n\r\n')
    await requested
    const ended = end()
    socket.write('GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n')
    release()
    await expect.poll(() => received).toMatch(/^HTTP\/1.1 200 [^]*HTTP\/1.1 503 [^]*draining/)
    await ended
  })

  it('lead from / to the explorer, or without one to the list of endpoints', async () => {
    const { root } = await serve(['--demo'])
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await fetch(root, { method, redirect: 'manual' })
      const fields = ['location', 'cache-control'].map((name) => headers.get(name))
      expect([status, ...fields]).toEqual([302, '/api/', 'no-cache'])
    }
    expect(await (await fetch(root)).text()).toContain('<!doctype html>')
    expect(await statusOf(root, { method: 'POST' })).toBe(404)
    for (const path of ['/metrics', '/healthz/', '/other']) {
      expect(await statusOf(root + path), path).toBe(404)
    }
    const plain = config('export default { explorer: false }')
    const listed = await serve([plain, '--demo'])
    expect((await bodyOf(listed.root)).endpoints.latest).toBe('/api/v1/latest')
    expect([await statusOf(`${listed.root}/api`), listed.stdout.includes('browser')]).toEqual([
      404,
      false,
    ])
    const bare = await serve([plain, '--demo', '--base-path', ''])
    expect(await (await fetch(bare.root)).text()).toContain('"/v1/latest"')
    const explorer = await serve(['--demo', '--base-path', ''])
    expect(await (await fetch(explorer.root)).text()).toContain('<title>')
    expect(await statusOf(`${explorer.root}/healthz`)).toBe(200)
  })

  it('need no key', async () => {
    const access = "createAccess({ plans: { free: '1/day' }, keys: { find: () => undefined } })"
    const text = `import { createAccess } from 'ratesmith/access'\nexport default { access: ${access} }`
    const { root, stdout } = await serve([config(text), '--demo'])
    for (const path of ['/healthz', '/', '/api/v1/openapi.json', '/api/']) {
      for (let time = 0; time < 3; time += 1) expect((await fetch(root + path)).status).toBe(200)
    }
    expect(await statusOf(`${root}${CONVERT}`)).toBe(401)
    expect(stdout).not.toContain('not limited')
  })

  it('are compressed unless the config file refuses', async () => {
    for (const [server, coding] of [
      ['{}', /^(br|gzip)$/],
      ['{ compress: false }', /^null$/],
    ] as const) {
      const { root } = await serve([config(optionsAnd(server)), '--demo'])
      const headers = { 'accept-encoding': 'br, gzip' }
      const response = await fetch(`${root}/api/v1/latest`, { headers })
      expect(String(response.headers.get('content-encoding'))).toMatch(coding)
      expect(await response.json()).toMatchObject({ base: 'USD' })
    }
  })

  it('are logged as JSON, without key and address, and with its own clients', async () => {
    const access = `createAccess({
      plans: { free: '60/min' },
      anonymous: 'free',
      keys: { find: () => undefined },
      queryParameters: ['session'],
    })`
    const text = `import { createAccess } from 'ratesmith/access'
      export default { trustedProxies: 1, access: ${access} }`
    const logged = async (server: string) => {
      const served = await serve([config(`${text}\nexport const server = ${server}`), '--demo'])
      const headers = { 'x-forwarded-for': '192.0.2.7', 'x-request-id': 'from-the-proxy' }
      await fetch(`${served.root}${CONVERT}&session[]=secret`, { headers })
      await fetch(`${served.root}/healthz`)
      await served.end()
      return served.stdout.split('\n').filter((line) => line.startsWith('{'))
    }
    const [line = '', ...others] = await logged('{ accessLog: true }')
    expect(JSON.parse(line)).toMatchObject({
      id: 'from-the-proxy',
      path: '/api/v1/convert',
      query: 'from=USD&to=EUR&session[]=REDACTED',
      status: 400,
    })
    expect([others, line.includes('192.0.2.7')]).toEqual([[], false])
    expect(await logged('{ accessLog: { clients: true } }')).toEqual([
      expect.stringContaining('"client":"192.0.2.7"'),
    ])
  })
})

describe('a config file', () => {
  it('has options, which flags overrule', async () => {
    const { env } = await startUpstreams()
    const text = `
      import type { RatesHandlerOptions } from 'ratesmith'
      import { fakeProviders } from 'ratesmith/testing'
      const { history } = fakeProviders()
      export default { basePath: '/own', cors: 'all', providers: { history } } satisfies RatesHandlerOptions`
    const sourceOf = async (url: string) => (await bodyOf(url)).source.name
    const { root } = await serve([config(text)], env)
    expect(await sourceOf(`${root}/own/v1/latest`)).toContain('Exchange Rate API')
    expect(await sourceOf(`${root}/own/v1/history?from=USD&to=EUR`)).toContain('Synthetic')
    const { headers } = await fetch(`${root}/own/rates`)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const args = [config(text), '--base-path', '/flag', '--history', 'frankfurter']
    const other = await serve(args, env)
    const history = `${other.root}/flag/v1/history?from=USD&to=EUR`
    expect(await sourceOf(history)).toContain('European Central')
    expect(await statusOf(`${other.root}/own/v1/latest`)).toBe(404)
    for (const [data, path] of [
      ['history', 'history?from=USD&to=EUR'],
      ['latest', 'latest'],
    ]) {
      const without = await serve([config(`export default { providers: { ${data}: false } }`)], env)
      expect(await statusOf(`${without.root}/api/v1/${path}`)).toBe(404)
    }
    const fetching = config("export default { basePath: '/own', fetch: globalThis.fetch }")
    expect(await statusOf(`${(await serve([fetching], env)).root}/own/v1/latest`)).toBe(200)
  })

  it('has quotes, or RATESMITH_QUOTE_SECRETS has the secrets', async () => {
    const secretOf = (name: string): string => name.padEnd(32, '-')
    const [own, former, current] = [secretOf('own'), secretOf('former'), secretOf('current')]
    const secrets = (text = ''): NodeJS.ProcessEnv => ({ RATESMITH_QUOTE_SECRETS: text })
    const quote = '/api/v1/quote?from=USD&to=EUR'
    const maker = await serve(['--demo'], secrets(former))
    const made = await (await fetch(maker.root + quote)).text()
    const path = `/api/v1/convert?quote=${JSON.parse(made).quote}`
    const redeemer = await serve(
      [config('export default {}'), '--demo'],
      secrets(`${current}, ${former}`),
    )
    expect(await (await fetch(redeemer.root + path)).text()).toBe(made)
    const file = config(`export default { quotes: { secrets: ['${own}'] } }`)
    const other = await serve([file, '--demo'], secrets(former))
    expect(await statusOf(other.root + path)).toBe(400)
    expect(await statusOf(other.root + quote)).toBe(200)
    expect(await statusOf((await serve(['--demo'])).root + quote)).toBe(404)
    // Those of real rates.
    const rates = createRates({ providers: fakeProviders() })
    const real = await createQuotes({ rates, secrets: [former] }).create({ from: 'USD', to: 'EUR' })
    expect(await statusOf(`${redeemer.root}/api/v1/convert?quote=${real.quote}`)).toBe(400)
  })

  it('has a handler, with probes and metrics', async () => {
    const served = await serve([config(`${HANDLER}\nexport const server = { metrics: true }`)])
    expect(await statusOf(`${served.root}/api/v1/latest`)).toBe(200)
    expect(await statusOf(`${served.root}/`)).toBe(404)
    await expect.poll(() => statusOf(`${served.root}/readyz`)).toBe(200)
    expect(await (await fetch(`${served.root}/metrics`)).text()).toContain('/v1/latest')
    const note =
      'Clients without a key are not limited: set the option access, see docs/keys-and-limits.md.'
    expect(served.stdout).toBe(`ratesmith listens on ${served.root}\n${note}\n`)
  })

  it.each([
    ['{ fetch }', 'export default { fetch: respond }'],
    ['a function', 'export default respond'],
    [
      'an instance',
      `export default new (class {
        store = respond
        fetch(request) { return this.store(request) }
      })()`,
    ],
  ])('has %s of another program, with probes', async (_, text) => {
    const respond =
      "const respond = (request) => new Response('own ' + new URL(request.url).pathname)"
    const { root, stdout } = await serve([config(`${respond}\n${text}`, 'config.mjs')])
    expect(await (await fetch(`${root}/any`)).text()).toBe('own /any')
    expect([await statusOf(`${root}/healthz`), await statusOf(`${root}/readyz`)]).toEqual([
      200, 200,
    ])
    expect(stdout).toBe(`ratesmith listens on ${root}\n`)
  })

  const OPTIONS = 'the options of createRatesHandler, a handler or { fetch }'

  it.each([
    ["throw new Error('no\\n database')", ['config.ts', 'no; database']],
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
    ["export default { basePath: 'x' }", ['config.ts: ']],
    ['export default { providers: { lates: 1 } }', ['did you mean "providers.latest"?']],
    ['export default { providers: { latest: 1 } }', ['config.ts: providers.latest']],
    [optionsAnd('{ metric: true }'), ['did you mean "server.metrics"?']],
    [optionsAnd('5'), ['config.ts: server must be an object, got 5']],
    [optionsAnd('{ compress: 1 }'), ['server.compress must be true or false, got 1']],
    [optionsAnd('{ metrics: 0 }'), ['server.metrics must be true or false, got 0']],
    [optionsAnd('{ accessLog: null }'), ['server.accessLog must be true or false, got null']],
    [optionsAnd('{ accessLog: { clients: 1 } }'), ['server.accessLog.clients must be true or']],
    [optionsAnd('{ accessLog: { client: true } }'), ['did you mean "server.accessLog.clients"?']],
    [
      'export default {}; export const servr = {}',
      ['unknown export "servr"; did you mean "server"?'],
    ],
    ...['accessLog', 'metrics'].map((name): [string, string[]] => [
      `export default () => new Response(); export const server = { ${name}: true }`,
      [`config.ts: server.${name} needs a handler of createRatesHandler()`],
    ]),
  ])('exits with 2 and one line for %s', async (text, facts) => {
    expectRefused(await serve([config(text)]), ...facts)
  })

  it.each(['--demo', '--base-path=/own', '--latest=ecb', '--pegs', '--store=rates', '--log=json'])(
    'with a handler refuses %s',
    async (flag) => {
      const served = await serve([config('export default () => new Response()'), flag])
      expectRefused(served, `${flag.replace(/=.*/, '')} needs options`, 'config.ts is a handler')
    },
  )

  it('has events and a store, which --demo leaves empty, and which flags overrule', async () => {
    const events: string[] = []
    const stored: string[] = []
    Object.assign(globalThis, { noted: { events, stored } })
    onTestFinished(() => void Reflect.deleteProperty(globalThis, 'noted'))
    const file = config(`
      const texts = new Map()
      export default {
        store: { get: (key) => texts.get(key), set: (key, text) => void texts.set(key, text, noted.stored.push(key)) },
        onEvent: ({ type }) => void noted.events.push(type),
      }`)
    const { env } = await startUpstreams()
    const served = await serve([file], env)
    expect(await statusOf(`${served.root}/api/v1/latest`)).toBe(200)
    await expect.poll(() => stored).toContain('rates:v1:latest')
    expect([events.includes('upstream_request'), served.stderr]).toEqual([true, ''])
    stored.length = 0
    const demo = await serve([file, '--demo', '--log', 'json'])
    expect(await statusOf(`${demo.root}/api/v1/latest`)).toBe(200)
    expect(demo.stderr).toContain('"event":"upstream_response"')
    expect(events.filter((type) => type === 'upstream_response')).toHaveLength(2)
    const folder = temporaryFolder()
    const flagged = await serve([file, '--store', folder], env)
    expect(await statusOf(`${flagged.root}/api/v1/latest`)).toBe(200)
    await expect.poll(() => readdirSync(folder).length).toBeGreaterThan(0)
    expect(stored).toEqual([])
  })

  it('has keys of the command, and a line about terms that forbid serving others', async () => {
    const file = join(temporaryFolder(), 'keys.json')
    const created = await run(['keys', 'create', '--plan=pro', '--name=acme', '--keys', file])
    const text = `
      import { createAccess } from 'ratesmith/access'
      import { createFileKeyStore } from 'ratesmith/access/file'
      const keys = createFileKeyStore('${file}')
      export default { access: createAccess({ keys, plans: { pro: '600/min, 100000/month' } }) }`
    const { env } = await startUpstreams()
    const served = await serve([config(text)], env)
    expect(served.stdout).toMatch(
      /^The terms of Rates By Exchange Rate API forbid [^\n]+ --latest fawazahmed0,ecb [^\n]+$/m,
    )
    expect(await statusOf(`${served.root}${CONVERT}`)).toBe(401)
    const headers = { 'x-api-key': created.stdout.trim() }
    const { status, headers: sent } = await fetch(`${served.root}${CONVERT}`, { headers })
    expect([status, sent.get('ratelimit-policy')]).toEqual([
      200,
      '"burst";q=600;w=60, "month";q=100000',
    ])
    expect(served.stderr).toContain('"event":"access_refused"')
    expect(served.stdout + served.stderr).not.toContain(created.stdout.trim())
    const open = await serve([config(text), '--latest', 'ecb'], env)
    expect(open.stdout).not.toMatch(/The terms|not limited/)
  })
})

describe.skipIf(OPENSSL_IS_MISSING)('HTTPS', () => {
  const folder = temporaryFolder(afterAll)

  beforeAll(() => {
    for (const name of ['own', 'other']) makeCertificate(folder, name, ['IP:127.0.0.1'])
    writeFileSync(join(folder, 'junk.pem'), 'no PEM')
    const [key, own, other] = ['own.key', 'own.crt', 'other.crt'].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    )
    writeFileSync(join(folder, 'all.pem'), `\uFEFFAbout these:\n${key}${own}${other}`)
    writeFileSync(join(folder, 'cut.pem'), `${own}${other?.slice(0, 200)}`)
    writeFileSync(join(folder, 'broken.pem'), `${own}${other?.replace(/[A-Za-z]{20}/, '????')}`)
  })

  function https(files: { key?: string; cert?: string }): string {
    const texts = Object.entries(files).map(
      ([kind, name]) => `${kind}: readFileSync('${join(folder, name)}', 'utf8')`,
    )
    return config(
      `import { readFileSync } from 'node:fs'\n${optionsAnd(`{ tls: { ${texts.join()} } }`)}`,
    )
  }

  it.each([
    { key: 'own.key', cert: 'own.crt' },
    { key: 'all.pem', cert: 'all.pem' },
  ])('is served with %j', async (files) => {
    const { root } = await serve([https(files), '--demo'])
    expect(root).toMatch(/^https:/)
    const ca = readFileSync(join(folder, 'own.crt'))
    const text = await new Promise((resolve, reject) => {
      get(root + CONVERT, { ca }, (response) => resolve(textOf(response))).on('error', reject)
    })
    expect(text).toContain('Synthetic')
  })

  it.each([
    [{ key: 'own.key' }, ['server.tls.cert']],
    [{ cert: 'own.crt' }, ['server.tls.key']],
    [{ key: 'none.pem', cert: 'own.crt' }, ['ENOENT', 'none.pem']],
    [{ key: 'junk.pem', cert: 'own.crt' }, ['server.tls.key', 'private key', 'PEM']],
    [{ key: 'own.key', cert: 'junk.pem' }, ['server.tls.cert', 'certificate', 'PEM']],
    [{ key: 'own.key', cert: 'cut.pem' }, ['server.tls.cert', 'certificate', 'PEM']],
    [{ key: 'own.key', cert: 'broken.pem' }, ['server.tls.cert', 'certificate', 'PEM']],
    [{ key: 'other.key', cert: 'own.crt' }, ['server.tls.key', 'server.tls.cert']],
  ])('exits with 2 and one line for %j', async (files, facts) => {
    expectRefused(await serve([https(files), '--demo']), 'config.ts', ...facts)
  })
})

it('has the bytes of a handler with the same upstreams', async () => {
  const { root } = await serve(['--demo'])
  const handler = createRatesHandler({ providers: fakeProviders() })
  for (const path of ['/api/v1/latest?base=EUR', CONVERT, '/api/v1/history?from=IDR&to=EUR']) {
    const response = await fetch(root + path, { headers: { 'accept-encoding': 'identity' } })
    const expected = await handler(new Request(`http://localhost${path}`))
    expect(response.headers.get('etag')).toBe(expected.headers.get('etag'))
    expect(await response.text()).toBe(await expected.text())
  }
})
