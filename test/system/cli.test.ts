import { describe, expect, it } from 'vitest'

import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { keptFiles, rootOf, serve, upstreams } from './commands.ts'
import { listen, temporaryFolder } from './processes.ts'
import { freePort } from './sockets.ts'

describe('ratesmith serve', () => {
  const WITHIN = { timeout: 20_000 }

  /** Starts a server whose upstream for latest rates responds with `body`, and sends a first request. */
  async function serveFrom(body: string, args: string[] = []) {
    const { url } = await listen(upstreams(body))
    const running = serve(args, { RATESMITH_LATEST_URL: url })
    const root = await rootOf(running)
    const { status } = await fetch(`${root}/api/rates`)
    return { running, root, status, host: new URL(url).host }
  }

  it('needs no network with --demo, and prints three URLs that work', async () => {
    const env = { RATESMITH_LATEST_URL: 'http://127.0.0.1:9' }
    const running = serve(['--demo', '--base-path', '/fx'], env)
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

  it('responds with 502 and logs one line that names the upstream when it cannot be reached', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const env = { RATESMITH_LATEST_URL: url, RATESMITH_HISTORY_URL: url }
    const running = serve(['--log', 'text'], env)
    const root = await rootOf(running)
    const response = await fetch(`${root}/api/rates`)
    expect(response.status).toBe(502)
    expect(await response.json()).toEqual({
      error: 'The exchange-rate provider is unavailable. Please retry shortly.',
    })
    const facts = ['latest', 'Rates By Exchange Rate API', new URL(url).host, 'ECONNREFUSED']
    const line = new RegExp(`^ratesmith: .*${facts.join('.*')}.*\n`)
    await expect.poll(() => running.stderr, WITHIN).toMatch(line)
    expect((await fetch(`${root}/api/v1/history?from=USD&to=EUR`)).status).toBe(502)
    // The line may arrive later than the response.
    const history = /^ratesmith: .*history.*European Central Bank/m
    await expect.poll(() => running.stderr, WITHIN).toMatch(history)
  })

  it('logs every event as one line of JSON unless stderr is a terminal', async () => {
    const body = JSON.stringify({ result: 'error', 'error-type': 'a\nb\u2028\u202ec' })
    const { running, status, host } = await serveFrom(body)
    expect(status).toBe(502)
    const lines = running.stderr.trimEnd().split('\n')
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'info', event: 'upstream_request', dataSet: 'latest', time: expect.any(String) },
      { level: 'warn', event: 'upstream_failed', reason: expect.stringContaining(host) },
      { level: 'warn', event: 'refresh_failed', reason: expect.stringContaining(host) },
      { level: 'info', event: 'refresh_scheduled', at: expect.any(Number) },
    ])
    expect(running.stderr).toMatch(/^[\x20-\x7e\n]+$/)
    expect(running.stderr).toMatch(/"elapsed":\d+[,}]/)
    expect(running.stderr).toMatch(/"at":\d{13}[,}]/)
  })

  it('shortens long lists in log lines', async () => {
    const junk = Object.fromEntries(Array.from({ length: 9_000 }, (_, code) => [`x${code}`, 1]))
    const { rates, ...payload } = Object(JSON.parse(openErApiPayload({ now: Date.now() })))
    const body = JSON.stringify({ ...payload, rates: { ...rates, ...junk } })
    const { running, status } = await serveFrom(body)
    expect(status).toBe(200)
    expect(running.stderr).toMatch(/"[^",]*\b8980\b[^",]*"\]/)
    expect(running.stderr.length).toBeLessThan(2_000)
  })

  it('continues when the reader of its log has exited', async () => {
    const { running, root } = await serveFrom('{"result":"error","error-type":"x"}')
    running.process.stderr.destroy()
    for (let time = 0; time < 3; time += 1) {
      expect((await fetch(`${root}/api/rates`)).status).toBe(502)
    }
    expect(running.process.exitCode).toBeNull()
  })

  it('serves its last rates after a restart with --store', async () => {
    const folder = temporaryFolder()
    const { url, close } = await listen(upstreams(openErApiPayload({ now: Date.now() })))
    const first = serve(['--store', folder], { RATESMITH_LATEST_URL: url })
    const body = await (await fetch(`${await rootOf(first)}/api/rates`)).text()
    await expect.poll(() => keptFiles(folder), WITHIN).toHaveLength(1)
    await first.end()
    await close()
    const second = serve(['--store', folder, '--log', 'text'], { RATESMITH_LATEST_URL: url })
    const root = await rootOf(second)
    // On a busy machine the first read of the store may time out.
    const read = async (): Promise<string> => (await fetch(`${root}/api/rates`)).text()
    await expect.poll(read, WITHIN).toBe(body)
    expect(second.stderr).toMatch(/^ratesmith: .*latest.*\bstore\b.*\b20\d\d-/m)
  })
})
