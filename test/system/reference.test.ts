import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, it } from 'vitest'

import manifest from '../../jsr.json' with { type: 'json' }
import { run } from './processes.ts'
import { ROOT } from './root.ts'

const REFERENCE = join(ROOT, 'build/reference')

/** What an app writes for each entry point, and its source. */
const ENTRIES = Object.entries(manifest.exports).map(([subpath, source]) => [
  join('ratesmith', subpath),
  source,
])

/** The names that a source exports, types too where it exports what others have. */
async function exportedNames(source: string): Promise<string[]> {
  const text = readFileSync(join(ROOT, source), 'utf8')
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)]
  const forwarded = lists.flatMap(([, list = '']) => list.split(',').map(lastWord))
  const values: object = await import(join(ROOT, source))
  return [...new Set([...forwarded, ...Object.keys(values)])].filter((name) => name !== '')
}

/** The name that `a as b` gives. */
function lastWord(text: string): string {
  return text.trim().split(' ').at(-1) ?? ''
}

function page(name: string): string {
  return readFileSync(join(REFERENCE, `${name}.html`), 'utf8')
}

describe('the reference', () => {
  let made: Awaited<ReturnType<typeof run>>
  beforeAll(async () => {
    made = await run(process.execPath, ['src/generate/reference.ts'])
  })

  it('is made without a warning, and says where it is', () => {
    expect(made).toEqual({ code: 0, stdout: 'build/reference/index.html\n', stderr: '' })
  })

  it.each(ENTRIES)('has a page for all that %s exports', async (name = '', source = '') => {
    const exported = await exportedNames(source)
    expect(exported.length).toBeGreaterThan(0)
    for (const symbol of exported) {
      const text = page(`${name}.ts/~/${symbol}`)
      expect(text, symbol).toContain(`from &quot;${name}&quot;`)
    }
  })

  it('tells what the docstrings tell, and nothing of this machine', () => {
    const text = page('ratesmith.ts/~/createRatesHandler')
    expect(text).toContain('serves latest rates, conversion and history')
    expect(text).toContain('naming the option that cannot be used')
    for (const name of ['index', 'all_symbols']) expect(page(name)).not.toContain(ROOT)
  })
})
