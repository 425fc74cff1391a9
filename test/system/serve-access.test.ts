import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it, onTestFinished } from 'vitest'

import { piped, rootOf, serve, startUpstreams } from './commands.ts'
import { writeAccessConfig, writeConfig } from './config-file.ts'
import { describeRuntimes, temporaryFolder } from './processes.ts'
import type { Running } from './processes.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import { NODE, ROOT } from './runtimes.ts'
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

async function startOwnRedis() {
  const redis = await startRedis()
  onTestFinished(() => redis.kill())
  return redis
}

function send(root: string, key?: string, headers: Record<string, string> = {}): Promise<Response> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
  return fetch(root + TARGET, { headers: { ...authorization, ...headers } })
}

async function statusWith(root: string, key?: string): Promise<number> {
  return (await send(root, key)).status
}

/** Writes a config file that requires a key of `file`, and of the plan `pro`. */
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

it('commands that run at the same time lose no key', async () => {
  const file = join(temporaryFolder(), 'keys.json')
  const created = await Promise.all(Array.from({ length: 6 }, () => createKey(file)))
  const { stdout } = await piped(NODE, ['keys', 'list', '--keys', file])
  const listed = Array.from(stdout.matchAll(/^\w+/gm), ([id]) => id)
  expect(listed.toSorted()).toEqual(created.map(({ id }) => id).toSorted())
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

it('keeps serving remembered keys while the file is damaged, and logs the reason', async () => {
  const file = join(temporaryFolder(), 'keys.json')
  const [known, other] = [await createKey(file), await createKey(file)]
  const running = serve([writeKeysConfig(file, '600/min'), '--demo'])
  const root = await rootOf(running)
  expect(await statusWith(root, known.key)).toBe(200)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.slice(0, -30))
  expect([await statusWith(root, known.key), await statusWith(root, other.key)]).toEqual([200, 503])
  writeFileSync(file, text)
  await expect.poll(() => statusWith(root, other.key)).toBe(200)
  await running.end()
  expect(running.stderr).toMatch(/"event":"counters_failed".*keys\.json: damaged/)
  for (const { key } of [known, other]) expect(running.stderr).not.toContain(key)
})

it('counts clients behind a trusted proxy by their addresses, and ignores forged ones', async () => {
  const open = (more: string): Promise<string> => {
    const access = `{ plans: { public: '2/day' }, anonymous: 'public', ${more} }`
    return rootOf(serve([writeAccessConfig(access), '--demo']))
  }
  const trusting = await open("trustedProxies: ['127.0.0.1']")
  const plain = await open('')
  const statuses = async (root: string): Promise<number[]> => {
    const found = []
    for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.2', '192.0.2.1']) {
      // The proxy appends the real address to what the client sent.
      found.push((await send(root, undefined, { 'x-forwarded-for': `10.9.8.7, ${client}` })).status)
    }
    return found
  }
  expect(await statuses(trusting)).toEqual([200, 200, 200, 200, 429])
  expect(await statuses(plain)).toEqual([200, 200, 429, 429, 429])
})

it('reads keys from the query only with queryParameters, and logs none of them', async () => {
  const file = join(temporaryFolder(), 'keys.json')
  const { key } = await createKey(file)
  const open = (more?: string): Running =>
    serve([writeKeysConfig(file, '600/min', '{ accessLog: true }', more), '--demo'])
  const running = open("queryParameters: ['access_key', 'app']")
  const plain = open()
  const roots = await Promise.all([running, plain].map(rootOf))
  for (const name of ['access_key', 'app']) {
    const found = roots.map(async (root) => (await fetch(`${root}${TARGET}&${name}=${key}`)).status)
    expect(await Promise.all(found)).toEqual([200, 401])
  }
  for (const each of [running, plain]) {
    await each.end()
    expect(each.stdout).toContain('"path":"/api/v1/latest"')
    expect(each.stdout + each.stderr).not.toContain(key)
  }
})

it.skipIf(REDIS_IS_MISSING)('applies whenCountersFail after Redis is gone', async () => {
  const redis = await startOwnRedis()
  const rules = ['local', 'allow', 'refuse']
  const servers = rules.map((rule) =>
    serve([
      writeConfig(`
        import { createRequire } from 'node:module'
        import { createAccess } from 'ratesmith/access'
        import { createRedisCounters } from 'ratesmith/access/redis'
        const { Redis } = createRequire('${ROOT}/package.json')('ioredis')
        const redis = new Redis('${redis.url}', { enableOfflineQueue: false })
        redis.on('error', () => {})
        await new Promise((resolve) => void redis.once('ready', resolve))
        export default {
          access: createAccess({
            plans: { public: '600/min' },
            anonymous: 'public',
            counters: createRedisCounters(redis),
            whenCountersFail: '${rule}',
          }),
        }
      `),
      '--demo',
    ]),
  )
  const roots = await Promise.all(servers.map(rootOf))
  const statuses = (): Promise<number[]> => Promise.all(roots.map((root) => statusWith(root)))
  expect(await statuses()).toEqual([200, 200, 200])
  await redis.kill()
  await expect.poll(statuses).toEqual([200, 200, 503])
  for (const server of servers) expect(await server.end()).toBe(0)
})

it('limits requests without a key by the anonymous plan, and names no address in its log', async () => {
  const access = "{ plans: { public: '3/day' }, anonymous: 'public' }"
  const running = serve([writeAccessConfig(access), '--demo'])
  const root = await rootOf(running)
  const statuses = []
  for (let time = 0; time < 5; time += 1) statuses.push(await statusWith(root))
  expect(statuses).toEqual([200, 200, 200, 429, 429])
  const limited = await send(root)
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await limited.json()).toMatchObject({ error: { code: 'rate_limited' } })
  await running.end()
  expect(running.stderr).toContain('"event":"limit_reached","plan":"public","limit":"burst"')
  expect(running.stderr).not.toContain('127.0.0.1')
})

it('lets web pages of listed origins read responses, and only those of a key use it', async () => {
  const file = join(temporaryFolder(), 'keys.json')
  const { key } = await createKey(file, NODE, '--origin', 'https://acme.example')
  const access = `{ keys: keysIn('${file}'), plans: { pro: '600/min' } }`
  const cors = "cors: ['https://acme.example', 'https://other.example']"
  const root = await rootOf(serve([writeAccessConfig(access, '{}', cors), '--demo']))
  const origin = 'https://acme.example'
  const served = await send(root, key, { origin })
  expect([served.status, served.headers.get('access-control-allow-origin')]).toEqual([200, origin])
  const other = await send(root, key, { origin: 'https://other.example' })
  expect(other.status).toBe(403)
  const strange = await send(root, key, { origin: 'https://strange.example' })
  expect(strange.headers.get('access-control-allow-origin')).toBeNull()
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
