import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { inject } from 'vitest'

/** A folder of a test's own, in which the installed package is found. */
export interface App {
  folder: string
  /** Writes a file into it; resolves with its path. */
  write(name: string, text: string): string
}

/** Makes one, which goes with the installed package. */
export function openApp(): App {
  const folder = mkdtempSync(join(inject('installed').folder, 'app-'))
  return {
    folder,
    write(name, text) {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    },
  }
}
