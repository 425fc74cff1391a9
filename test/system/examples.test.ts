import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { freePort } from './ports.ts'
import { listen, run, start } from './processes.ts'
import type { Running } from './processes.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import { ROOT } from './root.ts'
import { bundleWorker, openWorkers } from './workerd.ts'

const BIN = join(ROOT, 'node_modules/.bin')

/** Whatever they are run by, each is tried here; `lambda.ts` in a file of its own. */
const EXAMPLES = [
  'bun.ts',
  'client.ts',
  'cloudflare.ts',
  'custom-provider.ts',
  'custom-store.ts',
  'deno.ts',
  'express.ts',
  'fastify.ts',
  'hono.ts',
  'lambda.ts',
  'node.ts',
  'opentelemetry.ts',
  'redis-fleet.ts',
  'unit-test.ts',
]

describe('the examples', () => {
  it('are all tried here', () => {
    expect(readdirSync(join(ROOT, 'examples')).sort()).toEqual(EXAMPLES)
  })

  it.each(EXAMPLES)('%s begins with how to install what it needs, and how to run it', (name) => {
    const text = readFileSync(join(ROOT, 'examples', name), 'utf8')
    const [install = '', start = ''] = text.split('\n')
    expect(install).toMatch(/^\/\/ (npm install|bun add|deno add) .*\bratesmith\b/)
    expect(start).toMatch(new RegExp(`^// .*\\b(node|bun|deno|npx)\\b.* ${name}\\b`))
    const packages = [...text.matchAll(/ from '((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name]) => name)
    const others = packages.filter((name) => name !== 'node' && name !== 'cloudflare')
    for (const name of others) expect(install, name).toContain(name)
  })
})

describe('an example that ends', () => {
  it.each([
    ['custom-provider.ts', [], /from: 'PTS',[^]*rate: 0\.01,\s+result: 25,[^]*'Loyalty points'/],
    [
      'custom-store.ts',
      [],
      /^first asks upstream\nfirst: 1 USD = (\d\S+) EUR\nsecond: 1 USD = \1 EUR\n$/,
    ],
    [
      'opentelemetry.ts',
      [],
      /'rates\.events'[^]*'rates\.event': 'upstream_asked'[^]*value: 1\b[^]*'rates\.upstream\.duration'/,
    ],
    ['unit-test.ts', ['--test', '--test-reporter=tap'], /\n# pass 4\n# fail 0\n/],
  ])('%s does what it says', async (name, flags, output) => {
    const args = [...flags, join('examples', name)]
    const { code, stdout, stderr } = await run(process.execPath, args)
    expect(stderr).toBe('')
    expect(stdout).toMatch(output)
    expect(code).toBe(0)
  })

  it('client.ts tells what a service has, and what it has not', async () => {
    const handler = createRatesHandler({ providers: fakeProviders() })
    const { url } = await listen(toNodeHandler(handler))
    const args = ['examples/client.ts', `${url}/api`]
    const { code, stdout, stderr } = await run(process.execPath, args)
    expect(stderr).toBe('')
    const { rates } = await handler.rates.latest({ base: 'EUR' })
    const { USD, GBP, JPY } = rates
    expect(stdout).toBe(
      `1 EUR = ${USD} USD = ${GBP} GBP = ${JPY} JPY (Synthetic rates (ratesmith))\n` +
        'invalid_currency: Invalid to currency: ABC\n',
    )
    expect(code).toBe(0)
  })

  it.skipIf(REDIS_IS_MISSING)('redis-fleet.ts asks upstream once for all its servers', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.kill())
    const env = { REDIS_URL: redis.url }
    const { code, stdout, stderr } = await run(process.execPath, ['examples/redis-fleet.ts'], {
      env,
    })
    expect(stderr).toBe('')
    expect(stdout).toMatch(
      /^(\w+: 1 USD = (\d\.\d+) EUR\n)(\w+: 1 USD = \2 EUR\n){4}upstream calls: 1\n$/,
    )
    expect(code).toBe(0)
  })
})

describe('an example that serves', () => {
  const CONVERSION = '/api/v1/convert?from=USD&to=EUR&amount=100'
  const isConversion = (body: string): boolean =>
    body.startsWith('{"from":"USD","to":"EUR","amount":100,')

  async function startExample(program: string, args: string[]): Promise<[Running, string]> {
    const port = await freePort()
    return [start(program, args, { env: { PORT: String(port) } }), `http://127.0.0.1:${port}`]
  }

  it.each(['node.ts', 'express.ts', 'fastify.ts', 'hono.ts'])(
    '%s has rates beside what is its own',
    async (name) => {
      const [running, url] = await startExample(process.execPath, [join('examples', name)])
      await expectServes(running, `${url}/`, (body) => body === 'My own page\n')
      await expectServes(running, url + CONVERSION, isConversion)
      if (name === 'node.ts') return
      await expectServes(running, `${url}/api/users`, (body) => body === '["Ada","Grace"]')
    },
  )

  it.each([
    ['bun', []],
    ['deno', ['run', '-A']],
  ])('%s.ts has rates until it is told to stop', async (runtime, args) => {
    const program = [...args, `examples/${runtime}.ts`]
    const [running, url] = await startExample(join(BIN, runtime), program)
    await expectServes(running, url + CONVERSION, isConversion)
    expect(running.stdout).toBe(`Try ${url}${CONVERSION}\n`)
    running.process.kill('SIGTERM')
    expect(await running.exited).toBe(0)
  })

  it('cloudflare.ts has rates in the store before its first visitor', async () => {
    const asked: string[] = []
    const simulator = openWorkers({
      script: await bundleWorker('examples/cloudflare.ts'),
      outboundService({ url }) {
        asked.push(new URL(url).hostname)
        const history = { start: '2020-01-01', end: '2099-01-01', now: Date.now() }
        return new Response(
          url.includes('/v6/') ? openErApiPayload(history) : frankfurterPayload(history),
        )
      },
    })
    const [first, second] = [await simulator.getWorker('one'), await simulator.getWorker('two')]
    expect(await first.scheduled({ cron: '*/15 * * * *' })).toMatchObject({ outcome: 'ok' })
    expect(asked.sort()).toEqual(['api.frankfurter.dev', 'open.er-api.com'])
    const stored = await simulator.getKVNamespace('RATES', 'one')
    await expect.poll(async () => (await stored.list()).keys).toHaveLength(2)
    const response = await first.fetch(`http://localhost${CONVERSION}`)
    expect(isConversion(await response.text())).toBe(true)
    const elsewhere = await second.fetch(`http://localhost${CONVERSION}`)
    expect(elsewhere.headers.get('cache-status')).toMatch(/^rates; hit; /)
    expect(asked).toHaveLength(2)
  })
})

async function expectServes(
  running: Running,
  url: string,
  isExpected: (body: string) => boolean,
): Promise<void> {
  const body = async (): Promise<boolean | string> =>
    fetch(url).then(
      async (response) => {
        const text = await response.text()
        return isExpected(text) || text
      },
      () => running.stdout + running.stderr,
    )
  await expect.poll(body, { timeout: 20_000, interval: 100 }).toBe(true)
}
