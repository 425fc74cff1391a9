import { readdirSync } from 'node:fs'

/** The files that a file store keeps in `folder`, without what is still being written: to stop then leaves nothing. */
export function keptFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.cache'))
}
