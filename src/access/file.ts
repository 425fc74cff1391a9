import type { KeyStore } from './keys.ts'

/** Creates a key store in the JSON file at `path`. */
export function createFileKeyStore(path: string): KeyStore {
  throw new Error(`not implemented: ${path}`)
}
