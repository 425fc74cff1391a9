import { cpSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { start, temporaryFolder } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'

const POST = { method: 'POST', body: '[{"from":"USD","to":"EUR"}]' }
const HEADERS = { 'content-type': 'application/json' }

/** Modules that a server loads with the first request that needs them, and such a request. */
const ON_DEMAND: [module: string, path: string, init?: RequestInit][] = [
  ['src/api/currencies.ts', '/api/v1/currencies'],
  ['src/api/sources.ts', '/api/v1/sources'],
  ['src/endpoints/days.ts', '/api/v1/days?start=2026-01-01'],
  ['src/endpoints/convert-many.ts', '/api/v1/convert', { ...POST, headers: HEADERS }],
  ['src/generated/explorer-page.ts', '/api'],
  ['src/generated/openapi.json', '/api/v1/openapi.json'],
]

it('loads a part of a server with a later request if its first load fails', async () => {
  const folder = temporaryFolder()
  for (const name of ['src', 'adapters', 'package.json']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const running = start(process.execPath, [
    join(folder, 'src/cli/main.ts'),
    'serve',
    '--demo',
    '--port',
    '0',
  ])
  const [, root = ''] = await running.written(/listens on (http:\S+:\d+)/)
  async function isServed(path: string, init?: RequestInit): Promise<boolean> {
    // A failed load may close the connection.
    const response = await fetch(root + path, init).catch(() => undefined)
    await response?.body?.cancel()
    return response?.ok ?? false
  }
  async function served(): Promise<string[]> {
    const answers = ON_DEMAND.map(async ([name, ...request]) => {
      return (await isServed(...request)) ? [name] : []
    })
    return (await Promise.all(answers)).flat()
  }
  const modules = ON_DEMAND.map(([name]) => name)
  const paths = modules.map((name) => join(folder, name))
  for (const path of paths) renameSync(path, `${path}.missing`)
  expect(await isServed('/api/v1/convert?from=USD&to=EUR')).toBe(true)
  expect(await served()).toEqual([])
  for (const path of paths) renameSync(`${path}.missing`, path)
  expect(await served()).toEqual(modules)
})
