import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { ROOT } from '../system/runtimes.ts'
import { ALL, MODULES, exportedNames, openApp } from './package.ts'

/** Names under which an entry point exports a function that is declared with another name. */
const ALIASES: Readonly<Record<string, string>> = { findWithdrawn: 'findWithdrawnCurrency' }

const DECLARED =
  /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*export (?:default )?(?:async )?(?:function|class|const) (\w+)/g

const DOCSTRINGS = globSync('{src,adapters}/**/*.ts', { cwd: ROOT }).flatMap((file) =>
  Array.from(
    readFileSync(join(ROOT, file), 'utf8').matchAll(DECLARED),
    ([, text = '', name = '']) => ({ file, name, text: text.replaceAll(/^ *\* ?/gm, '') }),
  ),
)

// jsr.test.ts requires a docstring on every other symbol.
it.each(ALL)('every function of %s has an example', async (subpath) => {
  const source = MODULES[subpath]?.source ?? ''
  const exported: Record<string, unknown> = await import(join(ROOT, source))
  const names = await exportedNames(subpath)
  const without = names.filter((name) => {
    if (typeof exported[name] !== 'function') return false
    const declared = DOCSTRINGS.filter((each) => each.name === (ALIASES[name] ?? name))
    // Several adapters declare a function of one name.
    const own = declared.filter(({ file }) => file === source)
    const texts = (own.length > 0 ? own : declared).map(({ text }) => text)
    return texts.length === 0 || !texts.every((text) => text.includes('@example'))
  })
  expect(without).toEqual([])
})

it('all examples compile', async () => {
  const { write, link, compile } = openApp()
  const examples = DOCSTRINGS.flatMap(({ file, name, text }) =>
    Array.from(text.matchAll(/@example\s+```ts\n([^]*?)```/g), ([, code = '']) => ({
      name: `${file.replaceAll('/', '.').replace(/ts$/, name)}.ts`,
      code,
    })),
  )
  expect(examples.length).toBeGreaterThan(20)
  link('express', 'ioredis', '@types/express', '@types/node')
  for (const { name, code } of examples) write(name, `${code}\nexport {}\n`)
  expect(await compile({ module: 'nodenext', types: ['node'], skipLibCheck: true })).toBe('')
})
