import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { run } from '../system/processes.ts'
import { openApp } from './app.ts'
import { byEsbuild, byRollup, byViteForServers } from './bundlers.ts'
import type { Bundler } from './bundlers.ts'
import { ENTRY_POINTS } from './entry-points.ts'
import { EXPORTED_NAMES } from './exported-names.ts'

const app = openApp()

/** The size of a bundle of `text`, in bytes. */
async function sizeOf(text: string, bundler: Bundler): Promise<number> {
  const { folder, write } = openApp()
  const bundle = await bundler(write('program.js', text), join(folder, 'out'))
  return readFileSync(bundle).byteLength
}

/** Imports of every name, each under a name of its own. */
const STATEMENTS = Object.entries(EXPORTED_NAMES).map(([subpath, names], index) => {
  const renamed = names.map((name) => `${name} as ${name}${index}`)
  return [
    subpath,
    `import { ${renamed.join(', ')} } from '${ENTRY_POINTS[subpath]?.specifier}'`,
  ] as const
})

describe('what an app imports and does not use', () => {
  it.each(STATEMENTS)('is not in a bundle of esbuild: %s', async (_, statement) => {
    expect(await sizeOf(statement, byEsbuild)).toBe(0)
  })

  it.each([
    ['Rollup', byRollup],
    ['Vite', byViteForServers],
  ])('is not in a bundle of %s', async (_, bundler) => {
    const statements = STATEMENTS.map(([, statement]) => statement)
    // A comment or a line's end may be left.
    expect(await sizeOf(statements.join('\n'), bundler)).toBeLessThan(50)
  })

  // That nothing is missed where it is left out: importing it does nothing.
  it('changes nothing of what was there', async () => {
    const specifiers = Object.values(ENTRY_POINTS).map(({ specifier }) => specifier)
    const program = app.write(
      'globals.js',
      `const names = () => Reflect.ownKeys(globalThis).map(String)
      const before = new Set(names())
      for (const specifier of ${JSON.stringify(specifiers)}) await import(specifier)
      console.log(names().filter((name) => !before.has(name)).join())`,
    )
    const flags = ['--frozen-intrinsics', '--no-warnings']
    const { code, stdout, stderr } = await run(process.execPath, [...flags, program])
    expect(code, stderr).toBe(0)
    // Where zod keeps its settings.
    expect(stdout).toBe('__zod_globalConfig,__zod_globalRegistry\n')
  })
})
