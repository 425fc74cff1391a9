import { readdirSync } from 'node:fs'

import { expect, it } from 'vitest'

import { piped, rootOf, serve } from './commands.ts'
import { describeRuntimes, listen, temporaryFolder } from './processes.ts'
import { respondAsUpstream } from './upstreams.ts'

const KEY = 'open-sesame-0123456789'

const HOSTS: Record<string, string> = {
  currencyapi: 'api.currencyapi.com',
  ecb: 'www.ecb.europa.eu',
  fawazahmed0: 'cdn.jsdelivr.net',
  frankfurter: 'api.frankfurter.dev',
  italy: 'tassidicambio.bancaditalia.it',
  keyed: 'v6.exchangerate-api.com',
  open: 'open.er-api.com',
}

async function startAll(failing: readonly string[] = []) {
  const calls: { path: string; headers: string }[] = []
  const { url } = await listen(async (request, response) => {
    const path = request.url ?? ''
    const headers = JSON.stringify(request.headers)
    calls.push({ path, headers })
    const [, name = '', rest = ''] = /^\/([^/]+)(.*)/.exec(path) ?? []
    const upstreamResponse = failing.includes(name)
      ? new Response(headers, { status: 503 })
      : await respondAsUpstream(new URL(`https://${HOSTS[name]}${rest}`))
    response
      .writeHead(upstreamResponse.status)
      .end(Buffer.from(await upstreamResponse.arrayBuffer()))
  })
  const rootsOf = (names: string): string => names.replaceAll(/[^,]+/g, `${url}/$&`)
  return { calls, rootsOf }
}

describeRuntimes('providers by name', (runtime) => {
  it('are called in order, with a key from the environment that is never printed', async () => {
    const all = await startAll(['currencyapi'])
    const env = {
      RATESMITH_LATEST_URL: all.rootsOf('currencyapi,open'),
      RATESMITH_CURRENCYAPI_KEY: KEY,
    }
    const args = ['latest', '--json', '--latest', 'currencyapi,exchange-rate-api']
    const { code, stdout, stderr } = await piped(runtime, args, env)
    expect(JSON.parse(stdout)).toMatchObject({ source: { name: 'Rates By Exchange Rate API' } })
    expect(code).toBe(0)
    expect(stdout + stderr).not.toContain(KEY)
    expect(all.calls.map(({ path }) => path)).toEqual([
      '/currencyapi/v3/latest',
      '/open/v6/latest/USD',
    ])
    expect(all.calls.map(({ headers }) => headers.includes(KEY))).toEqual([true, false])
  })
})

it('serves rates of the named providers, and logs failures without the key', async () => {
  const all = await startAll(['currencyapi'])
  const running = serve(['--log', 'json', '--latest', 'currencyapi,ecb', '--history', 'ecb'], {
    RATESMITH_LATEST_URL: all.rootsOf('currencyapi,ecb'),
    RATESMITH_HISTORY_URL: all.rootsOf('ecb'),
    RATESMITH_CURRENCYAPI_KEY: KEY,
  })
  const response = await fetch(`${await rootOf(running)}/api/v1/latest`)
  expect(await response.json()).toMatchObject({ source: { name: 'European Central Bank' } })
  expect(await running.end()).toBe(0)
  expect(running.stderr).toContain('"event":"upstream_failed"')
  expect(running.stderr + running.stdout).not.toContain(KEY)
})

it('serves a wide history, and continues after a crash with what it has stored', async () => {
  const all = await startAll(['open'])
  const data = temporaryFolder()
  const env = {
    RATESMITH_LATEST_URL: all.rootsOf('open'),
    RATESMITH_HISTORY_URL: all.rootsOf('frankfurter,italy'),
  }
  const args = ['--store', data, '--history', 'frankfurter,banca-d-italia']
  const ofItaly = () => all.calls.filter(({ path }) => path.startsWith('/italy')).length
  const sourceOf = async (root: string, to: string) => {
    const response = await fetch(`${root}/api/v1/history?from=EUR&to=${to}&period=1Y`)
    return (await response.json()).source.name
  }
  const killed = serve(args, env)
  const root = await rootOf(killed)
  expect(await sourceOf(root, 'XOF')).toMatch(/^Banca d'Italia/)
  expect(await sourceOf(root, 'JPY')).toMatch(/^European Central Bank/)
  const before = ofItaly()
  // The newest days, and those of the franc.
  const stored = () => readdirSync(data).filter((file) => /banca-d-italia.*\.cache$/.test(file))
  await expect.poll(stored).toHaveLength(2)
  killed.process.kill('SIGKILL')
  const next = await rootOf(serve(args, env))
  expect(await sourceOf(next, 'XOF')).toMatch(/^Banca d'Italia/)
  expect(ofItaly()).toBe(before)
})
