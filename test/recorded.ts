import { existsSync } from 'node:fs'

import { describe } from 'vitest'

/** Recorded answers of upstreams. Some machines have them beside the project; they are never part of it. */
const FOLDER = new URL('../../shared/', import.meta.url)

/** Whether this machine has the recordings. */
export const HAS_RECORDINGS: boolean = existsSync(FOLDER)

/**
 * Returns where a recording is, by its path below the folder of recordings, such as `data/ecb/eurofxref-hist.csv`.
 *
 * @throws {Error} when the machine has recordings but not this one, so that a moved file is noticed instead of skipped
 */
export function recording(path: string): URL {
  const url = new URL(path, FOLDER)
  if (HAS_RECORDINGS && !existsSync(url)) throw new Error(`there is no recording ${path}`)
  return url
}

/** Declares a suite that reads recordings; without any it is skipped, and its title says why. */
export function describeRecorded(title: string, body: () => void): void {
  if (HAS_RECORDINGS) describe(title, body)
  else describe.skip(`${title} (skipped: no recorded data beside the project)`, body)
}
