import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import { expectRefused, keptFiles, rootOf, startUpstreams } from './commands.ts'
import { requireProgram, run, start, temporaryFolder } from './processes.ts'
import { ROOT, findBun } from './runtimes.ts'

const folder = temporaryFolder(afterAll)
const binary = join(folder, 'ratesmith')

beforeEach(({ skip }) => requireProgram('Bun', findBun() ?? '', skip))

/** Runs the binary away from the files that it was built from. */
beforeAll(async () => {
  if (!findBun()) return
  // Other tests use dist/ at the same time, so it must not be rebuilt.
  const { code, stderr } = await run('npm', ['run', '--ignore-scripts', 'build:binary'])
  if (code !== 0) throw new Error(stderr)
  cpSync(join(ROOT, 'build/ratesmith'), binary)
})

describe('the single-file program', () => {
  it.each([
    ['--version', new RegExp(`^${manifest.version}\n$`)],
    ['history --help', /--period/],
    ['convert 100 USD EUR --demo', /^[\d.]+ EUR\n$/],
    ['doctor --demo', /ratesmith /],
  ])('runs %s', async (args, output) => {
    const env = { RATESMITH_CACHE_DIR: join(folder, 'cache') }
    const ran = await run(binary, args.split(' '), { cwd: folder, env })
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(output) })
  })

  it('exits with 2 and one line for an invalid option', async () => {
    const ran = await run(binary, ['serve', '--port', 'x'], { cwd: folder })
    expectRefused(ran, '--port', 'x')
  })

  it('serves everything until SIGTERM', async () => {
    const running = start(binary, ['serve', '--demo', '--port', '0'], { cwd: folder })
    const api = `${await rootOf(running)}/api`
    const response = await fetch(`${api}/v1/convert?from=USD&to=EUR&amount=2`)
    expect(await response.json()).toMatchObject({ from: 'USD', to: 'EUR', amount: 2 })
    const parts = ['/', '/v1/openapi.json', '/v1/currencies', '/v1/latest?format=csv', '/v1/status']
    for (const path of ['/v1/history?from=USD&to=EUR&period=1Y', ...parts]) {
      expect((await fetch(api + path)).status, path).toBe(200)
    }
    expect(await running.end()).toBe(0)
    expect(running.stderr).not.toMatch(/"level":"(warn|error)"/)
  })

  it('keeps data in a folder, even if it is killed', async () => {
    const { env } = await startUpstreams()
    const args = 'serve --port 0 --store rates --log json'.split(' ')
    const running = start(binary, args, { cwd: folder, env })
    expect((await fetch(`${await rootOf(running)}/api/v1/latest`)).status).toBe(200)
    const kept = (): string[] => keptFiles(join(folder, 'rates'))
    await expect.poll(kept, { timeout: 20_000 }).toHaveLength(1)
    await running.end('SIGKILL')
    const again = start(binary, args, { cwd: folder, env })
    expect((await fetch(`${await rootOf(again)}/api/v1/latest`)).status).toBe(200)
    expect(again.stderr).toContain('"event":"rates_restored"')
  })

  it('reads no .env file', async () => {
    writeFileSync(join(folder, '.env'), 'RATESMITH_LATEST_URL=nonsense')
    const running = start(binary, ['serve', '--port', '0'], { cwd: folder })
    expect(await rootOf(running)).toMatch(/^http:/)
  })
})
