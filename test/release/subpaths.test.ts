import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, inject, it } from 'vitest'

import { run } from '../system/processes.ts'
import { ROOT } from '../system/root.ts'
import { openApp } from './app.ts'
import { ALL } from './entry-points.ts'
import { expectedRollCall, rollCall } from './roll-call.ts'
import { RUNTIMES, requireInstalled } from './versions.ts'

const app = openApp()

app.write('roll-call.js', rollCall(ALL))

const MODULES = app.write(
  'modules.js',
  `import { tell } from './roll-call.js'
  console.log(JSON.stringify(await tell()))`,
)

const RECORDS = app.write(
  'records.js',
  `import document from 'ratesmith/openapi.json' with { type: 'json' }
  import manifest from 'ratesmith/package.json' with { type: 'json' }
  import { createRatesHandler } from 'ratesmith'
  const handler = createRatesHandler({ basePath: '/fx' })
  const response = await handler(new Request('http://localhost/fx/v1/openapi.json'))
  const answered = JSON.stringify(await response.json())
  const expected = JSON.stringify({ ...document, servers: [{ url: '/fx' }] })
  console.log(document.openapi, document.info.version, manifest.version, answered === expected)`,
)

const WITHOUT_UNDICI = app.write(
  'without-undici.js',
  `import { createUndiciFetch } from 'ratesmith/node'
  await createUndiciFetch().catch(({ message }) => console.log(message))`,
)

describe.each(RUNTIMES)('the installed package, on %s', (_name, program, ...args) => {
  async function print(file: string): Promise<string> {
    requireInstalled(program)
    const { code, stdout, stderr } = await run(program, [...args, file], { cwd: app.folder })
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  it('has every module with its names, and answers', async () => {
    const told = JSON.parse(await print(MODULES))
    expect(told).toEqual(await expectedRollCall(ALL))
    expect(told.answer).toMatchObject({ from: 'USD', to: 'EUR', amount: 100 })
  })

  it('has the description of its API, and its manifest', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await print(RECORDS)).toBe(`3.1.1 ${version} ${version} true\n`)
  })
})

describe('the installed package', () => {
  it('does without undici, and says what is to be installed where it is wanted', async () => {
    const { stdout } = await run(process.execPath, [WITHOUT_UNDICI], { cwd: app.folder })
    expect(stdout).toBe('undici cannot be loaded; install it: npm install undici\n')
  })

  it('has a command', async () => {
    const command = join(inject('installed').folder, 'node_modules/.bin/ratesmith')
    const { code, stdout } = await run(command, ['--version'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
