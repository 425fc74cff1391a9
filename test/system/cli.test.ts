import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import {
  createExchangeRateApiProvider,
  createFrankfurterProvider,
  createRatesHandler,
} from '../../src/index.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { portOf } from './ports.ts'
import { listen, run, start } from './processes.ts'
import type { Running } from './processes.ts'
import { ROOT } from './root.ts'

const CLI = `${ROOT}/dist/cli.js`
const RECORDED = `${ROOT}/../shared/data/open-er-api/v6-latest-USD-2025-11-02.json`

const TARGETS = [
  '/api/v1/latest?base=EUR',
  '/api/v1/convert?from=USD&to=JPY&amount=0.1',
  '/api/v1/history?from=IDR&to=EUR&period=5Y',
  '/api/rates?base=GBP',
  '/api/convert?from=ISK&to=USD&amount=12.5',
]

/** Answers as both upstreams do, once `mayAnswer` resolves. */
function upstreams(
  latest: string,
  mayAnswer: () => Promise<void> = async () => {},
): RequestListener {
  return async (request, response) => {
    await mayAnswer()
    const range = /^\/v1\/([\d-]+)\.\.([\d-]+)$/.exec(request.url ?? '')
    if (request.url === '/v6/latest/USD') response.end(latest)
    else if (range) {
      const [, from = '', end = ''] = range
      response.end(frankfurterPayload({ start: from, end, now: Date.now() }))
    } else response.writeHead(404).end('{"message":"not found"}')
  }
}

function serve(args: string[], env: NodeJS.ProcessEnv = {}): Running {
  return start(process.execPath, [CLI, 'serve', ...args], { env })
}

/** Where the server listens, once it says so. */
async function rootOf(running: Running): Promise<string> {
  const [, root = ''] = await running.written(/listens on (http:\S+:\d+)/)
  return root
}

async function expectSameAnswers(latest: string): Promise<void> {
  const { url } = await listen(upstreams(latest))
  const running = serve(['--port', '0'], {
    RATESMITH_LATEST_URL: url,
    RATESMITH_HISTORY_URL: `${url}/`,
  })
  const root = await rootOf(running)
  const inProcess = createRatesHandler({
    providers: {
      latest: createExchangeRateApiProvider({ url }),
      history: createFrankfurterProvider({ url }),
    },
  })
  for (const target of TARGETS) {
    const response = await fetch(root + target)
    const expected = await inProcess(new Request(`http://localhost${target}`))
    expect(response.status, target).toBe(200)
    expect(response.headers.get('etag')).toBe(expected.headers.get('etag'))
    expect(await response.text()).toBe(await expected.text())
  }
  expect(running.stderr).not.toMatch(/"level":"(warn|error)"/)
}

describe('ratesmith serve', () => {
  it('answers on all five endpoints from its upstreams', async () => {
    await expectSameAnswers(openErApiPayload({ now: Date.now() }))
  })

  it.skipIf(!existsSync(RECORDED))(
    'answers from recorded latest rates, where there are any',
    async () => {
      await expectSameAnswers(readFileSync(RECORDED, 'utf8'))
    },
  )

  it('needs no network with --demo, and prints three URLs that work', async () => {
    const running = serve(['--demo', '--port', '0', '--base-path', '/fx'], {
      RATESMITH_LATEST_URL: 'http://127.0.0.1:9',
    })
    const root = await rootOf(running)
    await running.written(/period=1M\n/)
    const urls = running.stdout.match(/http:\S+\?\S+/g) ?? []
    expect(urls).toHaveLength(3)
    for (const url of urls) {
      expect(url.startsWith(`${root}/fx/v1/`)).toBe(true)
      const response = await fetch(url)
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('Synthetic')
    }
    expect(running.stderr).not.toMatch(/"level":"(warn|error)"/)
  })

  it('answers 502 and names the upstream on one line of stderr when it cannot be reached', async () => {
    const { url, server } = await listen(() => {})
    server.close()
    const running = serve(['--port', '0', '--log', 'text'], {
      RATESMITH_LATEST_URL: url,
      RATESMITH_HISTORY_URL: url,
    })
    const root = await rootOf(running)
    const response = await fetch(`${root}/api/rates`)
    expect(response.status).toBe(502)
    expect(await response.json()).toEqual({
      error: 'The exchange-rate provider is unavailable. Please retry shortly.',
    })
    expect(running.stderr).toMatch(
      new RegExp(
        `^ratesmith: latest rates: Rates By Exchange Rate API: ${new URL(url).host} did not answer: .*ECONNREFUSED.*\n`,
      ),
    )
    expect((await fetch(`${root}/api/v1/history?from=USD&to=EUR`)).status).toBe(502)
    expect(running.stderr).toContain('ratesmith: history rates: European Central Bank')
  })

  it('writes one line of what an upstream says, and nothing that a terminal obeys', async () => {
    const evil = JSON.stringify({
      result: 'error',
      'error-type': `a\nb\u001b[31m${'x'.repeat(9_999)}`,
    })
    const { url } = await listen(upstreams(evil))
    const running = serve(['--port', '0', '--log', 'text'], { RATESMITH_LATEST_URL: url })
    expect((await fetch(`${await rootOf(running)}/api/rates`)).status).toBe(502)
    expect(running.stderr).toMatch(/^ratesmith: latest rates: .* refused: a b \[31mx+\n/)
    expect(running.stderr.length).toBeLessThan(700)
  })

  it('logs every event as one line of JSON where nobody reads along', async () => {
    const evil = JSON.stringify({ result: 'error', 'error-type': 'a\nb\u2028\u202ec' })
    const { url } = await listen(upstreams(evil))
    const running = serve(['--port', '0'], { RATESMITH_LATEST_URL: url })
    expect((await fetch(`${await rootOf(running)}/api/rates`)).status).toBe(502)
    const host = new URL(url).host
    const lines = running.stderr.trimEnd().split('\n')
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'info', event: 'upstream_asked', dataSet: 'latest', time: expect.any(String) },
      { level: 'warn', event: 'upstream_failed', reason: `${host} refused: a\nb\u2028\u202ec` },
      { level: 'info', event: 'refresh_scheduled', at: expect.any(Number) },
    ])
    expect(running.stderr).toMatch(/^[\x20-\x7e\n]+$/)
    expect(running.stderr).toMatch(/"elapsed":\d+[,}]/)
    expect(running.stderr).toMatch(/"at":\d{13}[,}]/)
  })

  it('goes on when nobody reads its log any more', async () => {
    const { url } = await listen(upstreams('{"result":"error","error-type":"x"}'))
    const running = serve(['--port', '0'], { RATESMITH_LATEST_URL: url })
    const root = await rootOf(running)
    running.process.stderr.destroy()
    for (let time = 0; time < 3; time += 1) {
      expect((await fetch(`${root}/api/rates`)).status).toBe(502)
    }
    expect(running.process.exitCode).toBeNull()
  })

  it('writes a list of any length as a line that is not', async () => {
    const junk = Object.fromEntries(Array.from({ length: 9_000 }, (_, code) => [`x${code}`, 1]))
    const { rates, ...payload } = Object(JSON.parse(openErApiPayload({ now: Date.now() })))
    const { url } = await listen(
      upstreams(JSON.stringify({ ...payload, rates: { ...rates, ...junk } })),
    )
    const running = serve(['--port', '0'], { RATESMITH_LATEST_URL: url })
    expect((await fetch(`${await rootOf(running)}/api/rates`)).status).toBe(200)
    expect(running.stderr).toContain('"and 8980 more"]')
    expect(running.stderr.length).toBeLessThan(2_000)
  })

  it('is ready once it was asked for its status', async () => {
    const root = await rootOf(serve(['--demo', '--port', '0']))
    const status = async (): Promise<unknown> => (await fetch(`${root}/api/v1/status`)).json()
    expect(await status()).toMatchObject({ ready: false, latest: { ready: false } })
    await expect.poll(status, { timeout: 5_000 }).toMatchObject({
      ready: true,
      latest: { ready: true, stale: false, lastAttempt: { outcome: 'loaded' } },
      history: { ready: true, source: { name: 'Synthetic rates (ratesmith)' } },
    })
  })

  it('starts again with what it had, where it may keep data', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ratesmith-data-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const payload = openErApiPayload({ now: Date.now() })
    const { url, server } = await listen(upstreams(payload))
    const first = serve(['--port', '0', '--data', folder], { RATESMITH_LATEST_URL: url })
    const body = await (await fetch(`${await rootOf(first)}/api/rates`)).text()
    await expect.poll(() => readdirSync(folder).length, { timeout: 5_000 }).toBe(1)
    first.process.kill('SIGTERM')
    await first.exited
    server.closeAllConnections()
    server.close()
    const again = ['--port', '0', '--data', folder, '--log', 'text']
    const second = serve(again, { RATESMITH_LATEST_URL: url })
    const response = await fetch(`${await rootOf(second)}/api/rates`)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(body)
    expect(second.stderr).toMatch(/^ratesmith: latest rates: taken from the store, loaded 20\d\d-/)
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('finishes the answer under way on %s', async (signal) => {
    const asked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const mayAnswer = (): Promise<void> => {
      asked.resolve()
      return released.promise
    }
    const { url } = await listen(upstreams(openErApiPayload({ now: Date.now() }), mayAnswer))
    const running = serve(['--port', '0'], { RATESMITH_LATEST_URL: url })
    const root = await rootOf(running)
    const answer = fetch(`${root}/api/rates`)
    await asked.promise
    running.process.kill(signal)
    const refused = async (): Promise<boolean> =>
      fetch(root).then(
        () => false,
        () => true,
      )
    await expect.poll(refused, { timeout: 5_000 }).toBe(true)
    released.resolve()
    expect((await answer).status).toBe(200)
    expect(Object.keys(Object(await (await answer).json()).rates)).toHaveLength(166)
    expect(await running.exited).toBe(0)
    expect(running.stderr).not.toMatch(/"level":"(warn|error)"/)
  })

  it('stops while a client keeps its connection open', async () => {
    const running = serve(['--demo', '--port', '0'])
    const root = await rootOf(running)
    await new Promise((resolve) => {
      get(`${root}/api/rates`, { headers: { connection: 'keep-alive' } }, (response) =>
        response.resume().on('end', resolve),
      )
    })
    running.process.kill('SIGTERM')
    expect(await running.exited).toBe(0)
  })
})

describe('ratesmith with a command line that cannot be used', () => {
  it('ends with 2 and one line for data that cannot be kept where it is told', async () => {
    const file = join(ROOT, 'package.json')
    const { code, stderr } = await run(process.execPath, [CLI, 'serve', '--demo', '--data', file])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^ratesmith: --data: EEXIST[^\n]+\n$/)
  })

  it.each([
    [['serve', '--prot', '80'], "Unknown option '--prot'"],
    [['serve', '--port'], "Option '--port <value>' argument missing"],
    [['serve', '--port', '80a'], '--port must be a number from 0 to 65535, got 80a'],
    [['serve', '--port', '65536'], '--port must be a number from 0 to 65535, got 65536'],
    [['serve', '--demo=yes'], "Option '--demo' does not take an argument"],
    [['serve', '8080'], "Unexpected argument '8080'"],
    [['serve', '--port', '-1'], "Option '--port' argument is ambiguous"],
    [['serve', '--data='], '--data must be a folder, got nothing'],
    [['serve', '--log', 'xml'], '--log must be json or text, got xml'],
    [['serve', '--host='], '--host must be an address, got nothing'],
    [['serve', '--base-path', 'api/'], "--base-path: basePath must be '' or an absolute path"],
    [['convert'], 'no command convert'],
    [[], 'no command, try ratesmith serve --demo'],
  ])('ends with 2 and one line: %j', async (args, line) => {
    const { code, stdout, stderr } = await run(process.execPath, [CLI, ...args])
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(`ratesmith: ${line}`)
    expect(stderr).toMatch(/^[^\n]+\n$/)
  })

  it('ends with 2 and one line for an environment that cannot be used', async () => {
    const env = { RATESMITH_LATEST_URL: 'open.er-api.com' }
    const { code, stderr } = await run(process.execPath, [CLI, 'serve', '--port', '0'], { env })
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^ratesmith: RATESMITH_LATEST_URL: url must be an absolute http\(s\) URL[^\n]+\n$/,
    )
  })

  it('ends with 1 and one line for a port that is taken', async () => {
    const { server } = await listen(() => {})
    const port = String(portOf(server))
    const { code, stderr } = await run(process.execPath, [CLI, 'serve', '--demo', '--port', port])
    expect(code).toBe(1)
    expect(stderr).toBe(
      `ratesmith: port ${port} on 127.0.0.1 is taken; choose another with --port\n`,
    )
  })

  it('ends with 1 and one line for an address that is not its own', async () => {
    const args = [CLI, 'serve', '--demo', '--port', '0', '--host', '192.0.2.1']
    const { code, stderr } = await run(process.execPath, args)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^ratesmith: cannot listen on 192\.0\.2\.1, port 0: [^\n]+\n$/)
  })
})

describe('ratesmith', () => {
  it('shows its help and its version', async () => {
    const manifest: unknown = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'))
    expect(await run(process.execPath, [CLI, 'serve', '--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('--base-path'),
    })
    expect(await run(process.execPath, [CLI, '--version'])).toEqual({
      code: 0,
      stdout: `${Object(manifest).version}\n`,
      stderr: '',
    })
  })
})
