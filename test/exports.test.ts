import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

import { ENTRY_POINTS } from '../scripts/entry-points.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const TYPE_TESTS = readFileSync(join(ROOT, 'test/types.test-d.ts'), 'utf8')

/** Returns the names that a module exports, values and types. */
function exportsOf(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/^ *\/\*\*[^]*?\*\//gm, '')
  const own = text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm)
  const lists = text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)
  const all = text.matchAll(/^export \* from '([^']+)'/gm)
  return [
    ...Array.from(own, ([, name = '']) => name),
    ...Array.from(lists, ([, list = '']) => list.match(/\w+(?=\s*(?:,|$))/gm) ?? []).flat(),
    ...Array.from(all, ([, file = '']) => exportsOf(join(dirname(path), file))).flat(),
  ]
}

it.each(ENTRY_POINTS)('every name that $subpath exports is in a type test', ({ source }) => {
  const names = exportsOf(source)
  expect(names.length).toBeGreaterThan(0)
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(TYPE_TESTS))).toEqual([])
})
