import { copyFileSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { hashKey } from '../../src/access/index.ts'
import { PAGES } from '../../src/cli/help.ts'
import { CLI, keptFiles, rootOf, startUpstreams } from './commands.ts'
import { writeAccessConfig } from './config-file.ts'
import { run, start, temporaryFolder } from './processes.ts'

/** The arguments of `start` or `run` for a line of the help, which a shell runs in `folder`. */
function shell(
  line: string,
  folder: string,
  more: NodeJS.ProcessEnv = {},
): Parameters<typeof start> {
  const script = `ratesmith() { exec "$NODE" "$CLI" "$@"; }\n${line}`
  const env = { NODE: process.execPath, CLI, NO_PROXY: '127.0.0.1', ...more }
  return ['sh', ['-c', script], { cwd: folder, env }]
}

/** Checks the effect of a flag with `value` on a server, or on the folder in which it was started. */
type Check = (root: string, value: string, folder: string) => Promise<void> | void

/** The flags and the file in the examples of `serve`. */
const CHECKS: Readonly<Record<string, Check>> = {
  '--port': (root, value) => {
    expect(value).toBe('0')
    expect(new URL(root).port).not.toBe('8787')
  },
  '--store': async (_root, value, folder) => {
    // Rates are written after the response.
    await expect.poll(() => keptFiles(join(folder, value))).toHaveLength(1)
  },
  'config.ts': async (root) => {
    // Cacheable responses have no limits.
    const { headers } = await fetch(`${root}/api/v1/status`)
    expect(headers.get('ratelimit-policy')).toBe('"burst";q=60;w=60')
  },
}

describe('ratesmith help', () => {
  it.each(PAGES.serve.examples)('has an example that serves rates: %s', async (example) => {
    const folder = temporaryFolder()
    const access = "{ plans: { free: '60/min' }, anonymous: 'free' }"
    copyFileSync(writeAccessConfig(access), join(folder, 'config.ts'))
    const { env } = await startUpstreams()
    const running = start(...shell(example, folder, env))
    const root = await rootOf(running)
    const served = await fetch(`${root}/api/v1/latest?base=EUR&symbols=USD`)
    expect(await served.json()).toMatchObject({ base: 'EUR', rates: { USD: expect.any(Number) } })
    const words = [...example.matchAll(/ (--[\w-]+|config\.ts)(?:[ =](?!--)(\S+))?/g)]
    expect(words).not.toEqual([])
    for (const [, word = '', value = ''] of words) {
      expect(Object.keys(CHECKS), 'flags with a check').toContain(word)
      await CHECKS[word]?.(root, value, folder)
    }
    expect(await running.end()).toBe(0)
  })

  it.each(PAGES.sync.examples)('has an example that writes rates: %s', async (example) => {
    const { env } = await startUpstreams()
    const { code, stdout, stderr } = await run(...shell(example, temporaryFolder(), env))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^(?:\d\d+ inserted, 0 updated|\{"inserted":\d\d+,"updated":0\})\n$/)
  })

  it('has examples that create, list and revoke a key, in this order', async () => {
    const folder = temporaryFolder()
    const [create, list, revoke, ...others] = PAGES.keys.examples
    expect(others).toEqual([])
    const ran = async (line: string): Promise<string> => {
      const { code, stdout, stderr } = await run(...shell(line, folder))
      expect(code, `${line}: ${stderr}`).toBe(0)
      return stdout
    }
    const key = await ran(create)
    expect(key).toMatch(/^rsk_[0-9A-Za-z]{36}\n$/)
    const hash = await hashKey(key.trim())
    const files = readdirSync(folder)
    expect(files).toHaveLength(1)
    expect(readFileSync(join(folder, ...files), 'utf8')).toContain(hash)
    const [, plan, name] = /--plan (\S+) --name (\S+)/.exec(create) ?? []
    const row = [hash.slice(0, 12), name, plan, expect.any(String)]
    expect((await ran(list)).split('\t')).toMatchObject([...row, 'active', '', '\n'])
    await ran(revoke)
    expect((await ran(list)).split('\t')).toMatchObject([...row, 'revoked', '', '\n'])
  })
})
