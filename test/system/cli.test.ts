import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { listen, run, temporaryFolder } from './processes.ts'
import { ROOT } from './root.ts'
import { CLI, keptFiles, rootOf, serve, upstreams } from './serving.ts'

describe('ratesmith serve', () => {
  it('needs no network with --demo, and prints three URLs that work', async () => {
    const running = serve(['--demo', '--base-path', '/fx'], {
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
    const running = serve(['--log', 'text'], {
      RATESMITH_LATEST_URL: url,
      RATESMITH_HISTORY_URL: url,
    })
    const root = await rootOf(running)
    const response = await fetch(`${root}/api/rates`)
    expect(response.status).toBe(502)
    expect(await response.json()).toEqual({
      error: 'The exchange-rate provider is unavailable. Please retry shortly.',
    })
    await expect
      .poll(() => running.stderr)
      .toMatch(
        new RegExp(
          `^ratesmith: latest rates: Rates By Exchange Rate API: ${new URL(url).host} did not answer: .*ECONNREFUSED.*\n`,
        ),
      )
    expect((await fetch(`${root}/api/v1/history?from=USD&to=EUR`)).status).toBe(502)
    // The line comes another way than the answer, and may be later.
    await expect.poll(() => running.stderr).toContain('history rates: European Central Bank')
  })

  it('writes one line of what an upstream says, and nothing that a terminal obeys', async () => {
    const evil = JSON.stringify({
      result: 'error',
      'error-type': `a\nb\u001b[31m${'x'.repeat(9_999)}`,
    })
    const { url } = await listen(upstreams(evil))
    const running = serve(['--log', 'text'], { RATESMITH_LATEST_URL: url })
    expect((await fetch(`${await rootOf(running)}/api/rates`)).status).toBe(502)
    expect(running.stderr).toMatch(/^ratesmith: latest rates: .* refused: a b \[31mx+\n/)
    expect(running.stderr.length).toBeLessThan(700)
  })

  it('logs every event as one line of JSON where nobody reads along', async () => {
    const evil = JSON.stringify({ result: 'error', 'error-type': 'a\nb\u2028\u202ec' })
    const { url } = await listen(upstreams(evil))
    const running = serve([], { RATESMITH_LATEST_URL: url })
    expect((await fetch(`${await rootOf(running)}/api/rates`)).status).toBe(502)
    const host = new URL(url).host
    const lines = running.stderr.trimEnd().split('\n')
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'info', event: 'upstream_asked', dataSet: 'latest', time: expect.any(String) },
      { level: 'warn', event: 'upstream_failed', reason: `${host} refused: a\nb\u2028\u202ec` },
      { level: 'warn', event: 'refresh_failed', reason: expect.stringContaining(host) },
      { level: 'info', event: 'refresh_scheduled', at: expect.any(Number) },
    ])
    expect(running.stderr).toMatch(/^[\x20-\x7e\n]+$/)
    expect(running.stderr).toMatch(/"elapsed":\d+[,}]/)
    expect(running.stderr).toMatch(/"at":\d{13}[,}]/)
  })

  it('goes on when nobody reads its log any more', async () => {
    const { url } = await listen(upstreams('{"result":"error","error-type":"x"}'))
    const running = serve([], { RATESMITH_LATEST_URL: url })
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
    const running = serve([], { RATESMITH_LATEST_URL: url })
    expect((await fetch(`${await rootOf(running)}/api/rates`)).status).toBe(200)
    expect(running.stderr).toContain('"and 8980 more"]')
    expect(running.stderr.length).toBeLessThan(2_000)
  })

  it('is ready once it was asked for its status', async () => {
    const root = await rootOf(serve(['--demo']))
    const status = async (): Promise<unknown> => (await fetch(`${root}/api/v1/status`)).json()
    expect(await status()).toMatchObject({ ready: false, latest: { ready: false } })
    await expect.poll(status, { timeout: 5_000 }).toMatchObject({
      ready: true,
      latest: { ready: true, stale: false, lastAttempt: { outcome: 'loaded' } },
      history: { ready: true, source: { name: 'Synthetic rates (ratesmith)' } },
    })
  })

  it('starts again with what it had, where it may keep data', async () => {
    const folder = temporaryFolder()
    const payload = openErApiPayload({ now: Date.now() })
    const { url, server } = await listen(upstreams(payload))
    const first = serve(['--data', folder], { RATESMITH_LATEST_URL: url })
    const body = await (await fetch(`${await rootOf(first)}/api/rates`)).text()
    await expect.poll(() => keptFiles(folder), { timeout: 5_000 }).toHaveLength(1)
    first.process.kill('SIGTERM')
    await first.exited
    server.closeAllConnections()
    server.close()
    const again = ['--data', folder, '--log', 'text']
    const second = serve(again, { RATESMITH_LATEST_URL: url })
    const response = await fetch(`${await rootOf(second)}/api/rates`)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(body)
    expect(second.stderr).toMatch(/^ratesmith: latest rates: taken from the store, loaded 20\d\d-/)
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
    [['serve', '--cors', '*'], '--cors must be v1, all or off, got *'],
    [['serve', '--no-compress=yes'], "Option '--no-compress' does not take an argument"],
    [['serve', '--host='], '--host must be an address, got nothing'],
    [['serve', '--base-path', 'api/'], "--base-path: basePath must be '' or an absolute path"],
    [['convrt'], 'no command convrt. Did you mean convert?'],
    [['install'], 'no command install (see'],
    [[], 'no command, try ratesmith serve --demo'],
  ])('ends with 2 and one line: %j', async (args, line) => {
    const { code, stdout, stderr } = await run(process.execPath, [CLI, ...args])
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(`ratesmith: ${line}`)
    expect(stderr).toMatch(/^[^\n]+\n$/)
  })

  it.each([
    ['open.er-api.com', 'url must be an absolute http\\(s\\) URL without a query, got open'],
    ['https://someone:hidden@rates.example', 'url must have no user name and no password'],
    ['https://someone:hidden@rates.example?x', 'url must be an absolute http\\(s\\) URL'],
  ])('ends with 2 and one line for a root that cannot be used: %s', async (url, reason) => {
    const env = { RATESMITH_LATEST_URL: url }
    const { code, stderr } = await run(process.execPath, [CLI, 'serve'], { env })
    expect(code).toBe(2)
    expect(stderr).toMatch(new RegExp(`^ratesmith: RATESMITH_LATEST_URL: ${reason}[^\\n]+\\n$`))
    expect(stderr).not.toContain('hidden')
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
