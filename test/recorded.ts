import { existsSync } from 'node:fs'

/** Recorded responses of upstreams. Some machines have them next to the project; they are never part of it. */
const FOLDER = new URL('../../shared/', import.meta.url)

/** Whether this machine has the recordings: `describe.skipIf(!HAS_RECORDINGS)`. */
export const HAS_RECORDINGS: boolean = existsSync(FOLDER)

/** Appended to the title of every suite that reads recordings, so that a report shows why it was skipped. */
export const NEEDS_RECORDINGS = '(skipped without recorded data, which is not part of the project)'

/**
 * Returns the URL of a recording by its path below the folder of recordings, such as `data/ecb/eurofxref-hist.csv`.
 *
 * @throws {Error} if the machine has recordings but not this one, so that a moved file is noticed instead of skipped
 */
export function recording(path: string): URL {
  const url = new URL(path, FOLDER)
  if (HAS_RECORDINGS && !existsSync(url)) throw new Error(`missing recording: ${path}`)
  return url
}
