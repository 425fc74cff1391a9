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

/** The subpaths of all of them. */
export const ALL: string[] = Object.keys(ENTRY_POINTS)

/** Those that keep texts on a disk, by modules of Node's that Bun and Deno have as well, and nobody else. */
export const ON_DISK: string[] = ['./stores/file', './stores/sqlite']

/** Those that load wherever there is JavaScript. */
export const PORTABLE: string[] = ALL.filter((subpath) => !ON_DISK.includes(subpath))

function readJson(name: string) {
  return Object(JSON.parse(readFileSync(join(ROOT, name), 'utf8')))
}
