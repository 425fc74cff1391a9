import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from '../system/root.ts'

/** What an app may import, in three shapes; paths from the root of the project. */
export interface EntryPoint {
  /** What an app writes. */
  specifier: string
  source: string
  built: string
}

const manifest = readJson('package.json')
const jsr = readJson('jsr.json')

/** The modules that the package exports, by their subpaths, such as `./node`. */
export const ENTRY_POINTS: Record<string, EntryPoint> = Object.fromEntries(
  Object.entries<string | { default: string }>(manifest.exports).flatMap(([subpath, target]) => {
    // What is no module is a file itself.
    if (typeof target === 'string') return []
    const specifier = subpath.replace('.', manifest.name)
    return [[subpath, { specifier, source: jsr.exports[subpath], built: target.default }]]
  }),
)

function readJson(name: string) {
  return Object(JSON.parse(readFileSync(join(ROOT, name), 'utf8')))
}
