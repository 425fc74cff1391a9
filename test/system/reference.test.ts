import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, it } from 'vitest'

import { ENTRY_POINTS } from '../../scripts/entry-points.ts'
import { run } from './processes.ts'
import { ROOT } from './root.ts'

const page = (name: string): string =>
  readFileSync(join(ROOT, 'build/reference', `${name}.html`), 'utf8')

describe('the reference', () => {
  let made: Awaited<ReturnType<typeof run>>
  beforeAll(async () => {
    made = await run(process.execPath, ['scripts/reference.ts'])
  })

  it('is generated without a warning, and its path is printed', () => {
    expect(made).toEqual({ code: 0, stdout: 'build/reference/index.html\n', stderr: '' })
  })

  it.each(ENTRY_POINTS)('has a page for every export of $subpath', async ({ subpath, source }) => {
    const name = join('ratesmith', subpath)
    const text = readFileSync(join(ROOT, source), 'utf8')
    const types = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)]
      .flatMap(([, list = '']) => list.split(','))
      .map((type) => type.trim().split(' ').at(-1) ?? '')
    const exported = new Set([...types, ...Object.keys(await import(join(ROOT, source)))])
    exported.delete('')
    expect(exported.size).toBeGreaterThan(0)
    for (const symbol of exported) {
      expect(page(`${name}.ts/~/${symbol}`), symbol).toContain(`from &quot;${name}&quot;`)
    }
  })

  it('contains the docstrings, and no path of this machine', () => {
    const shown = wordsOf(page('ratesmith.ts/~/createRatesHandler').replaceAll(/<[^>]*>/g, ''))
    const source = readFileSync(join(ROOT, 'src/handler.ts'), 'utf8')
    const [before = ''] = source.split('export function createRatesHandler')
    const docstring = before
      .slice(before.lastIndexOf('/**'))
      .replaceAll(/^ *(?:\/\*\*|\*\/?) ?/gm, '')
    const [summary = ''] = docstring.split('\n\n')
    const [, thrown = ''] = /^@throws \{\w+\} (.*)$/m.exec(docstring) ?? []
    for (const text of [summary, thrown].map(wordsOf)) {
      expect(text).toMatch(/\w \w/)
      expect(shown).toContain(text)
    }
    for (const name of ['index', 'all_symbols']) expect(page(name)).not.toContain(ROOT)
  })
})

function wordsOf(text: string): string {
  return text.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim()
}
