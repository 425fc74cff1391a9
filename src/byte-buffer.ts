export const INITIAL_BYTES = 4_096

export interface ByteBuffer {
  /** Adds a copy of `chunk`, or returns false if the buffer may not grow. */
  append(chunk: Uint8Array): boolean
  size(): number
  bytes(): ReturnType<typeof Uint8Array.of>
}

/**
 * Creates a buffer for up to `limit` bytes, which copies every chunk: a kept chunk of one byte would take a hundred, or keep
 * the memory of the whole read that it is a part of. Calls `reserve` with the number of bytes before it grows.
 */
export function createByteBuffer(
  limit: number,
  reserve: (bytes: number) => boolean = () => true,
): ByteBuffer {
  let memory = new Uint8Array(INITIAL_BYTES)
  let size = 0
  return {
    append(chunk) {
      const end = size + chunk.length
      if (end > memory.length) {
        const capacity = Math.max(end, Math.min(limit, 2 * memory.length))
        if (!reserve(capacity - memory.length)) return false
        const larger = new Uint8Array(capacity)
        larger.set(memory.subarray(0, size))
        memory = larger
      }
      memory.set(chunk, size)
      size = end
      return true
    },
    size: () => size,
    bytes: () => memory.subarray(0, size),
  }
}
