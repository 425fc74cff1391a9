import { globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { run } from '../system/processes.ts'
import { ROOT } from '../system/root.ts'
import { ALL, MODULES, STRICT, exportedNames, openApp } from './package.ts'

/** Names under which an entry point exports a function that is declared with another name. */
const ALIASES: Readonly<Record<string, string>> = { findWithdrawn: 'findWithdrawnCurrency' }

const DECLARED =
  /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*export (?:default )?(?:async )?(?:function|class|const) (\w+)/g

/** Docstrings of exported functions and classes, by source file and name. */
const DOCSTRINGS = globSync('{src,adapters}/**/*.ts', { cwd: ROOT }).flatMap((file) =>
  Array.from(
    readFileSync(join(ROOT, file), 'utf8').matchAll(DECLARED),
    ([, text = '', name = '']) => ({ file, name, text: text.replaceAll(/^ *\* ?/gm, '') }),
  ),
)

/** Returns the docstrings of the exported functions; several adapters may declare a function of one name. */
async function docstringsOf(subpath: string): Promise<{ name: string; texts: string[] }[]> {
  const source = MODULES[subpath]?.source ?? ''
  const exported: Record<string, unknown> = await import(join(ROOT, source))
  const names = await exportedNames(subpath)
  return names
    .filter((name) => typeof exported[name] === 'function')
    .map((name) => {
      const declared = DOCSTRINGS.filter((each) => each.name === (ALIASES[name] ?? name))
      const own = declared.filter(({ file }) => file === source)
      return { name, texts: (own.length > 0 ? own : declared).map(({ text }) => text) }
    })
}

describe.each(ALL)('the docstrings of %s', (subpath) => {
  it('begin with a verb in the third person and have an example', async () => {
    const faults = (await docstringsOf(subpath)).flatMap(({ name, texts }) => [
      ...(texts.length > 0 ? [] : [`${name} has no docstring`]),
      ...(texts.every((text) => /^\s*(?:An? \w+|[A-Z][a-z]+s\b)/.test(text))
        ? []
        : [`${name} does not begin with a verb: ${texts.join().trim().slice(0, 60)}`]),
      ...(texts.every((text) => text.includes('@example')) ? [] : [`${name} has no @example`]),
    ])
    expect(faults).toEqual([])
  })
})

describe('the examples in docstrings', () => {
  it('compile', async () => {
    const { folder, write } = openApp()
    const examples = DOCSTRINGS.flatMap(({ file, name, text }) =>
      Array.from(text.matchAll(/@example\s+```ts\n([^]*?)```/g), ([, code = '']) => ({
        name: `${file.replaceAll('/', '.').replace(/ts$/, name)}.ts`,
        code,
      })),
    )
    expect(examples.length).toBeGreaterThan(20)
    for (const name of ['express', 'ioredis', '@types/express', '@types/node']) {
      const link = join(folder, 'node_modules', name)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(join(ROOT, 'node_modules', name), link)
    }
    for (const { name, code } of examples) write(name, `${code}\nexport {}\n`)
    const compilerOptions = { ...STRICT, module: 'nodenext', types: ['node'], skipLibCheck: true }
    write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const { stdout, stderr } = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder])
    expect(stdout + stderr).toBe('')
  })
})
