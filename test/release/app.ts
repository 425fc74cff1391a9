import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { inject } from 'vitest'

/** A folder for one test, in which the installed package is found. */
export interface App {
  folder: string
  /** Writes a file and returns its path. */
  write(name: string, text: string): string
}

/** Creates an app; its folder is removed together with the installed package. */
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
