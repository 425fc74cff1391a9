import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { run } from '../system/processes.ts'
import { ROOT } from '../system/root.ts'
import { openApp } from './app.ts'
import { ENTRY_POINTS } from './entry-points.ts'
import { COMPILERS, requireInstalled } from './versions.ts'

const CONSUMER = readFileSync(join(ROOT, 'test/release/consumer.ts'), 'utf8')

const RECORDS = `import document from 'ratesmith/openapi.json' with { type: 'json' }
import manifest from 'ratesmith/package.json' with { type: 'json' }
export const { description }: { description: string } = document.info
export const { version }: { version: string } = manifest`

/** How an app finds modules, and what it must say to import JSON. */
const RESOLUTIONS = [
  { module: 'nodenext', moduleResolution: 'nodenext', resolveJsonModule: true },
  { module: 'esnext', moduleResolution: 'bundler' },
]

/** Everything strict, the declarations looked at, and no types of a runtime. */
const COMPILER_OPTIONS = {
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
  types: [],
}

describe('the declarations', () => {
  it('are compiled for every module', () => {
    for (const { specifier } of Object.values(ENTRY_POINTS)) {
      expect(CONSUMER).toContain(` from '${specifier}'\n`)
    }
  })

  describe.each(COMPILERS)('with TypeScript %s', (version, program) => {
    it.each(RESOLUTIONS)('compile: %j', async (resolution) => {
      requireInstalled(program)
      const { folder, write } = openApp()
      write('consumer.ts', CONSUMER)
      write('records.ts', RECORDS)
      const compilerOptions = { ...COMPILER_OPTIONS, ...resolution }
      write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
      const { stdout, stderr } = await run(program, ['-p', folder])
      expect(stdout + stderr).toBe('')
      expect((await run(program, ['--version'])).stdout).toContain(` ${version}.`)
    })
  })
})
