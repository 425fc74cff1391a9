import { readFileSync, readdirSync } from 'node:fs'

/** A module that apps import; paths are relative to the project root. */
export interface EntryPoint {
  /** Its key in `exports`, such as `./node`. */
  subpath: string
  /** Path of its source, such as `adapters/node.ts`. */
  source: string
  /** Path of its built file, such as `./dist/node.js`. */
  built: string
}

type Target = string | { types: string; default: string }

const ROOT = new URL('..', import.meta.url)

/** package.json; its `exports` are the only list of entry points. */
export const MANIFEST: {
  name: string
  version: string
  license: string
  repository?: { url: string }
  exports: Record<string, Target>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
} = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'))

/** The modules that `exports` has, with one for each source that a pattern such as `./stores/*` matches. */
export const ENTRY_POINTS: readonly EntryPoint[] = Object.entries(MANIFEST.exports).flatMap(
  ([subpath, target]) => {
    if (typeof target === 'string') return []
    const source = target.types.replace('./dist/types/', '').replace(/\.d\.ts$/, '.ts')
    const each = { subpath, source, built: target.default }
    return source.includes('*') ? expand(each) : [each]
  },
)

/** The star of a pattern is the name of a file; a subpath that is listed itself is not matched. */
function expand(pattern: EntryPoint): EntryPoint[] {
  const [folder = '', suffix = ''] = pattern.source.split('*')
  return readdirSync(new URL(folder, ROOT))
    .filter((file) => file.endsWith(suffix))
    .toSorted()
    .map((file) => {
      const named = (text: string): string => text.replace('*', file.slice(0, -suffix.length))
      return {
        subpath: named(pattern.subpath),
        source: named(pattern.source),
        built: named(pattern.built),
      }
    })
    .filter(({ subpath }) => !Object.hasOwn(MANIFEST.exports, subpath))
}

// For commands that have to be given them, because they expand no patterns.
if (import.meta.main) {
  process.stdout.write(ENTRY_POINTS.map(({ subpath }) => `${subpath}\n`).join(''))
}
