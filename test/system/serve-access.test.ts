import { join } from 'node:path'

import { expect, it } from 'vitest'

import { piped, rootOf, serve, startUpstreams } from './commands.ts'
import { writeAccessConfig } from './config-file.ts'
import { describeRuntimes, temporaryFolder } from './processes.ts'
import type { Running } from './processes.ts'
import { NODE } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'

const TARGET = '/api/v1/latest?base=EUR&symbols=USD'

/** Creates a key with the command; returns what it printed on stdout, and its id. */
async function createKey(file: string, runtime: Runtime = NODE, ...flags: string[]) {
  const args = ['keys', 'create', '--keys', file, '--plan', 'pro', '--name', 'acme', ...flags]
  const { code, stdout, stderr } = await piped(runtime, args)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const [, id = ''] = /key (\w+) for acme/.exec(stderr) ?? []
  return { key: stdout.trim(), id }
}

function send(root: string, key?: string, headers: Record<string, string> = {}): Promise<Response> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
  return fetch(root + TARGET, { headers: { ...authorization, ...headers } })
}

async function statusWith(root: string, key?: string): Promise<number> {
  return (await send(root, key)).status
}

function writeKeysConfig(file: string, plan: string, server?: string, more = ''): string {
  return writeAccessConfig(
    `{ keys: keysIn('${file}'), plans: { pro: '${plan}' }, ${more} }`,
    server,
  )
}

describeRuntimes('ratesmith serve with keys', (runtime) => {
  it('serves requests with a key of the command, and no others', async () => {
    const file = join(temporaryFolder(), 'keys.json')
    const { key, id } = await createKey(file, runtime)
    const config = writeKeysConfig(file, '600/min, 100000/month')
    const running = serve([config, '--demo'], {}, runtime)
    const root = await rootOf(running)
    const refused = await send(root)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(await statusWith(root, `${key.slice(0, -1)}_`)).toBe(401)
    const served = await send(root, key)
    expect(served.status).toBe(200)
    expect(served.headers.get('cache-control')).toMatch(/^private, /)
    expect(served.headers.get('ratelimit-policy')).toBe('"burst";q=600;w=60, "month";q=100000')
    expect(served.headers.get('ratelimit')).toMatch(/^"burst";r=\d+;t=\d+, "month";r=\d+;t=\d+$/)
    const other = await fetch(root + TARGET, { headers: { 'x-api-key': key } })
    expect(other.status).toBe(200)
    expect(await running.end()).toBe(0)
    expect(running.stderr).toContain('"event":"access_refused"')
    expect(running.stdout + running.stderr).not.toContain(key)
    expect(running.stdout + running.stderr).not.toContain(id.repeat(2))
  })

  it('probes, page and description need no key', async () => {
    const file = join(temporaryFolder(), 'keys.json')
    await createKey(file, runtime)
    const running = serve([writeKeysConfig(file, '1/day'), '--demo'], {}, runtime)
    const root = await rootOf(running)
    for (const path of ['/healthz', '/', '/api/v1/openapi.json', '/api/']) {
      for (let time = 0; time < 3; time += 1) {
        expect((await fetch(root + path)).status, path).toBe(200)
      }
    }
    await expect.poll(async () => (await fetch(`${root}/readyz`)).status).toBe(200)
    expect(await (await fetch(root)).text()).toContain('API key')
    expect(await statusWith(root)).toBe(401)
  })
})

it('two servers that share a file refuse a revoked key within seconds, and accept a new one at once', async () => {
  const file = join(temporaryFolder(), 'keys.json')
  const { key, id } = await createKey(file)
  const other = await createKey(file)
  const start = (): Running => serve([writeKeysConfig(file, '6000/min'), '--demo'])
  const roots = await Promise.all([start(), start()].map(rootOf))
  for (const root of roots) {
    expect([await statusWith(root, key), await statusWith(root, other.key)]).toEqual([200, 200])
  }
  expect(await piped(NODE, ['keys', 'revoke', id, '--keys', file])).toMatchObject({ code: 0 })
  const added = await createKey(file)
  for (const root of roots) {
    // A look-up is remembered for 10 s.
    await expect.poll(() => statusWith(root, key), { timeout: 20_000, interval: 250 }).toBe(401)
    expect([await statusWith(root, added.key), await statusWith(root, other.key)]).toEqual([
      200, 200,
    ])
  }
})

it('prints a line about terms only if a provider forbids redistribution', async () => {
  const { env } = await startUpstreams()
  const args = [writeAccessConfig("{ plans: { public: '60/min' }, anonymous: 'public' }")]
  const line =
    /^The terms of Rates By Exchange Rate API forbid [^\n]+ --latest fawazahmed0,ecb [^\n]+$/m
  const withTerms = serve(args, env)
  await withTerms.written(line)
  const allowed = serve([...args, '--latest', 'ecb'], env)
  const open = serve([], env)
  for (const running of [allowed, open]) {
    await running.written(/v1\/status\n/)
    await running.end()
    expect(running.stdout).not.toMatch(line)
  }
})
