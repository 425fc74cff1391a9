import { promisify } from 'node:util'

import { LARGE_BODY_BYTES } from '../compression/variants.ts'
import type { Codecs } from '../compression/variants.ts'

/** Codecs for what is compressed once and sent often, but waited for by the first. They load zlib when they are asked. */
export const codecs: Codecs = {
  br: async (body) => {
    const { brotliCompress, constants } = await import('node:zlib')
    const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
    return trimmed(await promisify(brotliCompress)(body, { params }))
  },
  gzip: async (body) => {
    const { gzip } = await import('node:zlib')
    // Level 1 takes a third of the time, for a body that is some percent larger.
    const level = body.length > LARGE_BODY_BYTES ? 1 : 6
    return trimmed(await promisify(gzip)(body, { level }))
  },
}

/** A copy, because a result of zlib lies in a larger piece of memory, which it would keep. */
function trimmed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}
