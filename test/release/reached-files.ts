import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

import { ROOT } from '../system/root.ts'

/**
 * The files that modules import, and what those import, with the modules themselves; imports of types and those that wait
 * until they are needed count. All are paths from the root of the project.
 */
export function reachedFiles(modules: Iterable<string>): string[] {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    if (!/\.[jt]s$/.test(path)) return
    const text = readFileSync(join(ROOT, path), 'utf8')
    for (const [, specifier = ''] of text.matchAll(
      /(?:from|import)\s*\(?\s*['"](\.[^'"\s]+)['"]/g,
    )) {
      visit(posix.join(posix.dirname(path), specifier))
    }
  }
  for (const path of modules) visit(posix.normalize(path))
  return [...reached]
}
