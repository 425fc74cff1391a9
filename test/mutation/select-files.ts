import { globSync } from 'node:fs'

import { ROOT } from '../system/root.ts'

/**
 * Returns the files that match `patterns`, as paths from the project root; a leading `!` excludes files.
 *
 * @throws {Error} if a pattern matches nothing, as after a rename
 */
export function selectFiles(patterns: readonly string[]): string[] {
  const selected = new Set<string>()
  for (const pattern of patterns) {
    const isExcluding = pattern.startsWith('!')
    const files = globSync(isExcluding ? pattern.slice(1) : pattern, { cwd: ROOT })
    if (files.length === 0) throw new Error(`the pattern ${pattern} matches no file`)
    for (const file of files) {
      if (isExcluding) selected.delete(file)
      else selected.add(file)
    }
  }
  return [...selected].toSorted()
}
