import { promisify } from 'node:util'

import { LARGE_BODY_BYTES } from '../compression/variants.ts'
import type { Codecs } from '../compression/variants.ts'

/** Codecs for bodies that are compressed once and sent often, while the first client waits. They load zlib on first use. */
export const codecs: Codecs = {
  br: async (body) => {
    const { brotliCompress, constants } = await import('node:zlib')
    const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
    return trimmed(await promisify(brotliCompress)(body, { params }))
  },
  gzip: async (body) => {
    const { gzip } = await import('node:zlib')
    // Level 1 takes a third of the time; the body is a few percent larger.
    const level = body.length > LARGE_BODY_BYTES ? 1 : 6
    return trimmed(await promisify(gzip)(body, { level }))
  },
}

function trimmed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  // zlib returns a view of a larger buffer, which would stay in memory.
  return new Uint8Array(bytes)
}
