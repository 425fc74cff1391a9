import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The public entry points of a work tree, loaded from their sources. */
export interface Tree {
  /**
   * Returns an export of the first entry point that has it, such as `find('serve', 'node')`; `.` is the package itself.
   *
   * @throws {Error} that names what is absent
   */
  find<Found>(name: string, ...entries: string[]): Promise<Found>
}

/** Opens the work tree at `root`. */
export function openTree(root: string): Tree {
  const { exports }: { exports: Record<string, { types?: string } | string | null> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )

  /** The declarations of an entry point have the path of its source. */
  function sourceOf(entry: string): string | undefined {
    const key = entry === '.' ? '.' : `./${entry}`
    const pattern = key.replace(/[^/]+$/, '*')
    const target = key in exports ? exports[key] : exports[pattern]
    if (typeof target !== 'object' || target?.types === undefined) return undefined
    const name = entry.split('/').at(-1) ?? ''
    const path = target.types.replace(/^.*dist\/types\//, '').replace(/\.d\.ts$/, '.ts')
    const source = join(root, path.replace('*', name))
    return existsSync(source) ? source : undefined
  }

  return {
    async find(name, ...entries) {
      for (const entry of entries) {
        const source = sourceOf(entry)
        if (source === undefined) continue
        const module = await import(pathToFileURL(source).href)
        if (name in module) return module[name]
      }
      throw new Error(`no ${name} in ${entries.join(' or ')}`)
    },
  }
}
