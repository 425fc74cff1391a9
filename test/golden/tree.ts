import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The public entry points of a work tree, loaded from their sources. */
export interface Tree {
  root: string
  /**
   * Calls the function `name` of the first of the entry points that exports it, such as `['node']` or `['.']`.
   *
   * @throws {Error} that names the function, if none exports it
   */
  call<Result>(name: string, entries: readonly string[], ...args: unknown[]): Promise<Result>
}

/** Opens the work tree at `root`. */
export function openTree(root: string): Tree {
  const { exports }: { exports: Record<string, { types?: string } | string | null> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )

  /** Returns the source of an entry point, whose declarations have the same path below another folder. */
  function sourceOf(entry: string): string | undefined {
    const key = entry === '.' ? '.' : `./${entry}`
    const target = key in exports ? exports[key] : exports[key.replace(/[^/]+$/, '*')]
    if (typeof target !== 'object' || target?.types === undefined) return undefined
    const path = target.types.replace(/^.*dist\/types\//, '').replace(/\.d\.ts$/, '.ts')
    const source = join(root, path.replace('*', entry.split('/').at(-1) ?? ''))
    return existsSync(source) ? source : undefined
  }

  return {
    root,
    async call(name, entries, ...args) {
      for (const source of entries.map(sourceOf)) {
        if (source === undefined) continue
        const module = await import(pathToFileURL(source).href)
        if (name in module) return module[name](...args)
      }
      throw new Error(`no ${name} in ${entries.join(' or ')}`)
    },
  }
}
