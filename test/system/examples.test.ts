import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { freePort } from './ports.ts'
import { run, start } from './processes.ts'
import type { Running } from './processes.ts'
import { ROOT } from './root.ts'

const BIN = join(ROOT, 'node_modules/.bin')

describe('the examples', () => {
  it('are all tried here', () => {
    expect(readdirSync(join(ROOT, 'examples')).sort()).toEqual([
      'custom-provider.ts',
      'custom-store.ts',
      'fetch.ts',
      'node.ts',
      'offline.ts',
      'opentelemetry.ts',
    ])
  })

  it.each([
    ['custom-provider.ts', /from: 'PTS',[^]*rate: 0\.01,\s+result: 25,[^]*'Loyalty points'/],
    [
      'custom-store.ts',
      /^first upstream_asked\nfirst upstream_answered\nfirst (\d\S+)\nsecond \1\n$/,
    ],
    [
      'opentelemetry.ts',
      /'rates\.events'[^]*'rates\.event': 'upstream_asked'[^]*value: 1\b[^]*'rates\.upstream\.duration'/,
    ],
    ['offline.ts', /^2 USD = \d\.\d+ EUR \(synthetic\)\n$/],
  ])('%s does what it says', async (name, output) => {
    const { code, stdout, stderr } = await run(process.execPath, [join('examples', name)])
    expect(stderr).toBe('')
    expect(stdout).toMatch(output)
    expect(code).toBe(0)
  })

  it('node.ts serves beside the pages of an app', async () => {
    const port = await freePort()
    const env = { PORT: String(port) }
    const running = start(process.execPath, ['examples/node.ts'], { env })
    await expectServes(running, `http://127.0.0.1:${port}/`, (body) => body === 'My own page\n')
  })

  it.each([
    ['bun', ['--hostname=127.0.0.1']],
    ['deno', ['serve', '-A', '--host=127.0.0.1']],
  ])('fetch.ts serves on %s', async (runtime, args) => {
    const port = await freePort()
    const running = start(join(BIN, runtime), [...args, `--port=${port}`, 'examples/fetch.ts'])
    const url = `http://127.0.0.1:${port}/api/v1/convert?from=USD&to=EUR`
    await expectServes(running, url, (body) => JSON.parse(body).from === 'USD')
  })
})

async function expectServes(
  running: Running,
  url: string,
  isExpected: (body: string) => boolean,
): Promise<void> {
  const body = async (): Promise<boolean | string> =>
    fetch(url).then(
      async (response) => isExpected(await response.text()),
      () => running.stdout + running.stderr,
    )
  await expect.poll(body, { timeout: 20_000, interval: 100 }).toBe(true)
}
