import { describe, expect, it } from 'vitest'

import { expectRefused, installAlone, rootOf, serve, startUpstreams } from './commands.ts'
import { describeRuntimes, run, start } from './processes.ts'
import { openProxy } from './proxy.ts'
import { freePort } from './sockets.ts'

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']

/** Removes the machine's proxy variables, so that only those of a test count. */
const BARE: NodeJS.ProcessEnv = Object.fromEntries(
  VARIABLES.flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, undefined]),
)

async function deadRoot(scheme: string): Promise<string> {
  return `${scheme}://127.0.0.1:${await freePort()}`
}

function roots(root: string): NodeJS.ProcessEnv {
  return { RATESMITH_LATEST_URL: root, RATESMITH_HISTORY_URL: root }
}

describeRuntimes('ratesmith serve behind a proxy', (runtime) => {
  async function requestThrough(env: NodeJS.ProcessEnv) {
    const running = serve([], { ...BARE, ...env }, runtime)
    return { running, response: await fetch(`${await rootOf(running)}/api/rates`) }
  }

  it.each(['HTTP_PROXY', 'http_proxy'])('fetches http upstreams through %s', async (variable) => {
    const { host, requests } = await openProxy()
    const { env } = await startUpstreams()
    const { running, response } = await requestThrough({ ...env, [variable]: `http://${host}` })
    expect(response.status).toBe(200)
    expect(requests).toEqual([`GET ${env['RATESMITH_LATEST_URL']}/v6/latest/USD`])
    expect(await running.end()).toBe(0)
  })

  const secure = ['HTTPS_PROXY', 'https_proxy']
  it.each(secure)('fetches https upstreams through %s', async (variable) => {
    const { host, requests } = await openProxy({ status: 403 })
    const root = await deadRoot('https')
    const env = { ...roots(root), [variable]: `http://${host}` }
    expect((await requestThrough(env)).response.status).toBe(502)
    expect(requests).toEqual([`CONNECT ${new URL(root).host}`])
  })

  it('fetches hosts in NO_PROXY directly', async () => {
    const { host, requests } = await openProxy()
    const { env } = await startUpstreams()
    const proxies = { HTTP_PROXY: `http://${host}`, NO_PROXY: 'localhost,127.0.0.1' }
    expect((await requestThrough({ ...env, ...proxies })).response.status).toBe(200)
    expect(requests).toEqual([])
  })

  it.each([
    'http://someone:hidden@[',
    'ftp://someone:hidden@127.0.0.1',
    'someone:hidden@127.0.0.1',
  ])('exits with 2 for an invalid proxy URL: %s', async (url) => {
    const running = serve([], { ...BARE, HTTPS_PROXY: url }, runtime)
    expect(await running.exited).toBe(2)
    expect(running.stderr).toMatch(/^ratesmith: [^\n]*HTTPS_PROXY\b[^\n]*\bhttp\b[^\n]*\n$/)
    expect(running.stderr).not.toContain('hidden')
  })

  it('prints no password of a proxy that is down', async () => {
    const proxy = new URL(await deadRoot('http'))
    Object.assign(proxy, { username: 'someone', password: 'hidden' })
    const env = { ...roots(await deadRoot('http')), HTTP_PROXY: proxy.href }
    const { running, response } = await requestThrough(env)
    expect(response.status).toBe(502)
    expect(running.stderr).toContain('"event":"upstream_failed"')
    expect(running.stdout + running.stderr + (await response.text())).not.toContain('hidden')
  })
})

describe('ratesmith serve behind a proxy, on Node without undici', () => {
  it('exits with 2 and names the package to install', async () => {
    const env = { ...BARE, HTTPS_PROXY: 'http://127.0.0.1:9' }
    const ran = await run(process.execPath, [installAlone(), 'serve', '--port', '0'], { env })
    expectRefused(ran, 'HTTPS_PROXY', 'npm install undici')
  })

  it.each([
    [['--demo'], { HTTPS_PROXY: 'http://127.0.0.1:9' }],
    [[], { HTTP_PROXY: 'http://127.0.0.1:9' }],
  ])('starts if no proxy is needed: %j %j', async (args, env) => {
    const flags = ['serve', '--port', '0', ...args]
    const surroundings = { env: { ...BARE, ...env } }
    const running = start(process.execPath, [installAlone(), ...flags], surroundings)
    expect(await rootOf(running)).toMatch(/^http:/)
  })
})
