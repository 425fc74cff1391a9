import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { keptFiles } from './kept-files.ts'
import { run, start } from './processes.ts'
import { ROOT } from './root.ts'

let folder: string
let binary: string

/** The program alone, away from everything that it was built from. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratesmith-binary-'))
  binary = join(folder, 'ratesmith')
  // Other tests use dist/ meanwhile: it must not be built anew.
  const { code, stderr } = await run('npm', ['run', '--ignore-scripts', 'build:binary'])
  if (code !== 0) throw new Error(stderr)
  cpSync(join(ROOT, 'build/ratesmith'), binary)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the program of one file', () => {
  it('knows its version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await run(binary, ['--version'], { cwd: folder })).toEqual({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    })
  })

  it('serves until it is told to stop', async () => {
    const running = start(binary, ['serve', '--demo', '--port', '0'], { cwd: folder })
    const [, root = ''] = await running.written(/listens on (http:\S+:\d+)/)
    const response = await fetch(`${root}/api/v1/convert?from=USD&to=EUR&amount=2`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ from: 'USD', to: 'EUR', amount: 2 })
    const parts = ['/', '/v1/openapi.json', '/v1/currencies', '/v1/latest?format=csv', '/v1/status']
    for (const path of ['/v1/history?from=USD&to=EUR&period=1Y', ...parts]) {
      expect((await fetch(`${root}/api${path}`)).status, path).toBe(200)
    }
    running.process.kill('SIGTERM')
    expect(await running.exited).toBe(0)
    expect(running.stderr).not.toMatch(/"level":"(warn|error)"/)
  })

  it('answers by itself, like the command', async () => {
    const answer = await run(binary, ['convert', '100', 'USD', 'EUR', '--demo'], { cwd: folder })
    expect(answer).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\d.]+ EUR\n$/) })
    const env = { RATESMITH_CACHE_DIR: join(folder, 'cache') }
    const found = await run(binary, ['doctor', '--demo'], { cwd: folder, env })
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('ratesmith ') })
    expect(await run(binary, ['history', '--help'], { cwd: folder })).toMatchObject({ code: 0 })
  })

  it('keeps data in a folder, like the command', async () => {
    const args = ['serve', '--demo', '--port', '0', '--data', 'rates', '--log', 'text']
    const running = start(binary, args, { cwd: folder })
    const [, root = ''] = await running.written(/listens on (http:\S+:\d+)/)
    expect((await fetch(`${root}/api/v1/latest`)).status).toBe(200)
    const kept = (): string[] => keptFiles(join(folder, 'rates'))
    await expect.poll(kept, { timeout: 5_000 }).toHaveLength(1)
    running.process.kill('SIGTERM')
    expect(await running.exited).toBe(0)
    const again = start(binary, args, { cwd: folder })
    const [, rootAgain = ''] = await again.written(/listens on (http:\S+:\d+)/)
    expect((await fetch(`${rootAgain}/api/v1/latest`)).status).toBe(200)
    expect(again.stderr).toContain('taken from the store')
  })

  it('ends with 2 and one line for a flag that cannot be used', async () => {
    const { code, stderr } = await run(binary, ['serve', '--port', 'x'], { cwd: folder })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^ratesmith: --port must be [^\n]+\n$/)
  })

  it('takes its environment from the one who starts it, and not from a file beside it', async () => {
    writeFileSync(join(folder, '.env'), 'RATESMITH_LATEST_URL=nonsense')
    const running = start(binary, ['serve', '--port', '0'], { cwd: folder })
    expect(await running.written(/listens on/)).not.toBeNull()
  })
})
