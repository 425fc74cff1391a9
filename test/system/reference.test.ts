import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { ENTRY_POINTS } from '../../scripts/entry-points.ts'
import { run } from './processes.ts'
import { ROOT } from './runtimes.ts'

const FOLDER = join(ROOT, 'build/reference')

it('is generated without a warning for every module, without paths of this machine', async () => {
  const made = await run(process.execPath, ['scripts/reference.ts'])
  expect(made).toEqual({ code: 0, stdout: 'build/reference/index.html\n', stderr: '' })
  const modules = ENTRY_POINTS.map(({ subpath }) => join('ratesmith', subpath))
  expect(modules.filter((name) => !existsSync(join(FOLDER, `${name}.ts`)))).toEqual([])
  for (const name of ['index', 'all_symbols', 'ratesmith.ts/~/createRatesHandler']) {
    const page = readFileSync(join(FOLDER, `${name}.html`), 'utf8')
    expect(page).toContain('ratesmith')
    expect(page).not.toContain(ROOT)
  }
})
