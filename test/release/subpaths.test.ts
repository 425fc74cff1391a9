import { globSync } from 'node:fs'
import { join } from 'node:path'

import { beforeEach, describe, expect, inject, it } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import { requireProgram, run } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'
import { ALL, RUNTIMES, expectedReport, openApp, reportProgram } from './package.ts'

const app = openApp()

app.write('report.js', reportProgram(ALL))

const PRINT_REPORT = app.write(
  'print-report.js',
  `import { report } from './report.js'
  console.log(JSON.stringify(await report()))`,
)

/** The modules in folders of entry points that are none, with and without built files of their names. */
const INNER = globSync('dist/types/src/{providers,stores}/**/*.d.ts', { cwd: ROOT })
  .map((path) => path.replaceAll('\\', '/').replace(/^dist\/types\/src(.*)\.d\.ts$/, '.$1'))
  .filter((subpath) => !ALL.includes(subpath))
  .toSorted()

const PRINT_REFUSED = app.write(
  'print-refused.js',
  `const refused = []
  for (const subpath of ${JSON.stringify(INNER)}) {
    await import(subpath.replace('.', 'ratesmith')).catch(() => refused.push(subpath))
  }
  console.log(JSON.stringify(refused))`,
)

const PRINT_RECORDS = app.write(
  'print-records.js',
  `import document from 'ratesmith/openapi.json' with { type: 'json' }
  import manifest from 'ratesmith/package.json' with { type: 'json' }
  import { createRatesHandler } from 'ratesmith'
  const handler = createRatesHandler({ basePath: '/fx' })
  const response = await handler(new Request('http://localhost/fx/v1/openapi.json'))
  const served = JSON.stringify(await response.json())
  const expected = JSON.stringify({ ...document, servers: [{ url: '/fx' }] })
  console.log(document.openapi, document.info.version, manifest.version, served === expected)`,
)

const WITHOUT_UNDICI = app.write(
  'without-undici.js',
  `import { createUndiciFetch } from 'ratesmith/node'
  await createUndiciFetch().catch(({ message }) => console.log(message))`,
)

describe.each(RUNTIMES)('the installed package on %s', (name, program, ...args) => {
  beforeEach(({ skip }) => requireProgram(name, program, skip))

  async function print(file: string): Promise<string> {
    const { code, stdout, stderr } = await run(program, [...args, file], { cwd: app.folder })
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  it('exports the names of every module, and converts', async () => {
    const report = JSON.parse(await print(PRINT_REPORT))
    expect(report).toEqual(await expectedReport(ALL))
    expect(report.conversion).toMatchObject({ from: 'USD', to: 'EUR', amount: 100 })
  })

  it('refuses to import its inner modules', async () => {
    expect(INNER).toEqual(
      expect.arrayContaining(['./providers/ecb/unzip', './stores/store-options']),
    )
    expect(JSON.parse(await print(PRINT_REFUSED))).toEqual(INNER)
  })

  it('has its OpenAPI document and its manifest', async () => {
    const { version } = manifest
    expect(await print(PRINT_RECORDS)).toBe(`3.1.1 ${version} ${version} true\n`)
  })
})

describe('the installed package', () => {
  it('loads without undici, and names the missing package on use', async () => {
    const { stdout } = await run(process.execPath, [WITHOUT_UNDICI], { cwd: app.folder })
    expect(stdout).toMatch(/^undici [^\n]*npm install undici\n$/)
  })

  it('has a command', async () => {
    const command = join(inject('installed').folder, 'node_modules/.bin/ratesmith')
    const stdout = expect.stringMatching(/^\d+\.\d+\.\d+\n$/)
    expect(await run(command, ['--version'])).toMatchObject({ code: 0, stdout })
  })
})
