import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { temporaryFolder } from './processes.ts'
import { ROOT } from './runtimes.ts'

/** Writes a config file of `ratesmith serve` that imports the built package; returns its path. */
export function writeConfig(
  text: string,
  name = 'config.ts',
  ...finish: Parameters<typeof temporaryFolder>
): string {
  const path = join(temporaryFolder(...finish), name)
  const adapted = text.replaceAll(/'ratesmith(?:\/([\w/-]+))?'/g, (_, entry = 'index') => {
    return `'${pathToFileURL(join(ROOT, `dist/${entry}.js`)).href}'`
  })
  writeFileSync(path, adapted)
  return path
}
