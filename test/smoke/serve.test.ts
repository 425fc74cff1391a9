// `ratesmith serve` in this process, from source: what test/cli/serve.test.ts and test/system/serve.test.ts do not have.
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'

import { PAGES } from '../../src/cli/help.ts'
import { publish, run, urlOf } from '../cli/run.ts'
import type { Surroundings } from '../cli/run.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { temporaryFolder } from '../system/processes.ts'
import { openSocket, portIn } from '../system/sockets.ts'

const SOURCES = new URL('../../src/', import.meta.url).href
const CONVERT = '/api/v1/convert?from=USD&to=EUR'

let stop: (signal: 'SIGTERM') => void

beforeEach(() => {
  const { on } = process
  const spies = [
    vi.spyOn(process, 'on').mockImplementation((event, listener) => {
      if (event === 'SIGTERM') stop = listener
      return /^SIG(INT|TERM)$/.test(String(event)) ? process : on.call(process, event, listener)
    }),
    vi.spyOn(process, 'exit').mockImplementation(Object(() => undefined)),
    vi.spyOn(process, 'kill').mockReturnValue(true),
  ]
  return () => spies.forEach((spy) => spy.mockRestore())
})

/** Runs `ratesmith serve` on a free port until the end of the test. */
async function serve(args: string[], surroundings: Surroundings = {}) {
  const served = { root: '', stdout: '', stderr: '' }
  const listening = Promise.withResolvers<void>()
  const onPrint = (text: string): void => {
    served.stdout += text
    served.root ||= /https?:\/\/\S+:\d+/.exec(text)?.[0] ?? ''
    // It listens for signals in the same turn.
    queueMicrotask(listening.resolve)
  }
  const onNote = (text: string): void => void (served.stderr += text)
  const ended = run(['serve', '--port', '0', ...args], { ...surroundings, onPrint, onNote })
  void ended.then(({ stderr }) => listening.reject(new Error(stderr)))
  await listening.promise
  const end = async (): Promise<unknown> => (stop('SIGTERM'), ended)
  onTestFinished(() => void end())
  const statusOf = async (path: string): Promise<number> =>
    (await fetch(served.root + path, { redirect: 'manual' })).status
  return Object.assign(served, { statusOf, end })
}

/** Writes a config file that imports the sources of the package. */
function config(text: string, name = 'config.ts'): string {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, text.replaceAll(/'ratesmith\/?([\w/-]*)'/g, `'${SOURCES}$1/index.ts'`))
  return path
}

/** Upstreams that respond after `release()`; `requested` resolves with their first request. */
function hangingUpstreams() {
  const [requested, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const respond = publish()
  const fetch: typeof globalThis.fetch = async (...call) => {
    requested.resolve()
    await released.promise
    return respond(...call)
  }
  return { fetch, requested: requested.promise, release: released.resolve }
}

it('logs text to a terminal, and shortens long lists', async () => {
  const terminal = await serve([], { columns: 80 })
  expect(await terminal.statusOf('/api/rates')).toBe(502)
  expect(terminal.stderr).toMatch(/^ratesmith: .*latest.*Rates By.*open\.er-api\.com.*refused\n/)
  const { rates } = Object(JSON.parse(openErApiPayload({ now: Date.now() })))
  const junk = Object.fromEntries(Array.from({ length: 9_000 }, (_, code) => [`x${code}`, 1]))
  const long = await serve([], { fetch: publish({ latest: { rates: { ...rates, ...junk } } }) })
  expect(await long.statusOf('/api/rates')).toBe(200)
  expect(long.stderr).toMatch(/"[^",]*\b8980\b[^",]*"\]/)
  expect(long.stderr.length).toBeLessThan(2_000)
})

it('calls the named providers in their order, and prints no key', async () => {
  const [key, urls] = ['open-sesame-0123456789', Array<string>()]
  const served = await serve(['--latest', 'currencyapi,exchange-rate-api'], {
    env: {
      RATESMITH_LATEST_URL: 'http://a.example,http://b.example',
      RATESMITH_CURRENCYAPI_KEY: key,
    },
    fetch: async (input, init) => {
      urls.push(urlOf(input))
      if (urls.length > 1) return publish()(input, init)
      return new Response(JSON.stringify(Object(init).headers), { status: 503 })
    },
  })
  const body = await (await fetch(`${served.root}/api/v1/latest`)).json()
  expect(body).toMatchObject({ source: { name: 'Rates By Exchange Rate API' } })
  expect(urls).toEqual(['http://a.example/v3/latest', 'http://b.example/v6/latest/USD'])
  expect(served.stderr).toContain('"event":"upstream_failed"')
  expect(served.stderr + served.stdout).not.toContain(key)
})

it('listens on an IPv6 address in brackets, and ignores upstreams with --demo', async () => {
  const env = { RATESMITH_LATEST_URL: 'x' }
  const { root, statusOf } = await serve(['--demo', '--host', '[::1]'], { env })
  expect(root).toMatch(/^http:\/\/\[::1\]:\d+$/)
  expect(await statusOf(CONVERT)).toBe(200)
})

it('exits with 2 for a proxy that is not a URL', async () => {
  const env = { HTTPS_PROXY: 'ftp://someone:hidden@127.0.0.1' }
  const { code, stderr } = await run(['serve'], { env, ...Object({ fetch: undefined }) })
  expect([code, stderr]).toEqual([
    2,
    'ratesmith: HTTPS_PROXY must be an http(s) URL (see ratesmith help serve)\n',
  ])
})

it.each(PAGES.serve.examples)('has an example in its help: %s', async (example) => {
  const [folder, file] = [
    join(temporaryFolder(), 'rates'),
    config("export default { basePath: '/own' }"),
  ]
  const [name, command, ...args] = example.split(' ')
  expect([name, command]).toEqual(['ratesmith', 'serve'])
  const places: Record<string, string> = { rates: folder, 'config.ts': file }
  const words = args.map((word) => places[word] ?? word)
  const { statusOf } = await serve(words, { fetch: publish() })
  expect(await statusOf(`${args.includes('config.ts') ? '/own' : '/api'}/v1/latest`)).toBe(200)
  await expect.poll(() => existsSync(folder)).toBe(args.includes('rates'))
})

it('is alive at once, and ready with rates only, without another request', async () => {
  const { fetch: fetchRates, release } = hangingUpstreams()
  const { root, statusOf } = await serve([], { fetch: fetchRates })
  const ready = await fetch(`${root}/readyz`)
  expect([ready.status, ready.headers.get('cache-control')]).toEqual([503, 'no-store'])
  const head = await fetch(`${root}/healthz`, { method: 'HEAD' })
  expect([head.status, Number(head.headers.get('content-length')) > 0]).toEqual([200, true])
  release()
  await expect.poll(() => statusOf('/readyz')).toBe(200)
})

it('is not ready while it finishes its responses', async () => {
  const { requested, release, ...surroundings } = hangingUpstreams()
  const { root, end } = await serve([], surroundings)
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

it('needs no key for its own paths', async () => {
  const access = "createAccess({ plans: { free: '1/day' }, keys: { find: () => undefined } })"
  const text = `import { createAccess } from 'ratesmith/access'\nexport default { access: ${access} }`
  const { statusOf, stdout } = await serve([config(text), '--demo'])
  for (const [path, status] of [
    ['/healthz', 200],
    ['/', 302],
    ['/api/', 200],
    [CONVERT, 401],
  ] as const) {
    expect([path, await statusOf(path), await statusOf(path)]).toEqual([path, status, status])
  }
  expect(stdout).not.toMatch(/not limited|The terms/)
})

it('has the fetch of a config file, and no latest rates or compression if it says so', async () => {
  const file = config(`export const server = { compress: false }
    export default {
      providers: { latest: false },
      fetch: () => Promise.reject(new Error('own fetch')),
    }`)
  const { root, statusOf } = await serve([file], { fetch: publish() })
  expect((await fetch(`${root}/healthz`, { method: 'HEAD' })).status).toBe(200)
  expect(await statusOf('/api/v1/latest')).toBe(404)
  expect(await statusOf('/api/v1/history?from=USD&to=EUR')).toBe(502)
})

it('has the store of a config file, unless a flag names another', async () => {
  const refuse = "() => Promise.reject(new Error('own store'))"
  const file = config(`export default { store: { get: () => undefined, set: ${refuse} } }`)
  const folder = join(temporaryFolder(), 'rates')
  const surroundings = { fetch: publish(), env: { RATESMITH_STORE: folder } }
  const own = await serve([file], surroundings)
  expect(await own.statusOf('/api/v1/latest')).toBe(200)
  await expect.poll(() => own.stderr).toContain('own store')
  expect(existsSync(folder)).toBe(false)
  const flagged = await serve([file, '--store', folder], surroundings)
  expect(await flagged.statusOf('/api/v1/latest')).toBe(200)
  await expect.poll(() => readdirSync(folder).length).toBeGreaterThan(0)
  expect(flagged.stderr).not.toContain('own store')
})

it('serves the instance of a class, whose fetch() needs it', async () => {
  const { root } = await serve([
    config(
      `export default new (class {
        text = 'own'
        fetch() { return new Response(this.text) }
      })()`,
      'config.mjs',
    ),
  ])
  expect(await (await fetch(root)).text()).toBe('own')
})
