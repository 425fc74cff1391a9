type Body = Uint8Array | string

export interface UnsentBodies {
  bytes(): number
  /** Adds the body of a response; returns a function to call, once or more, when it is sent or its client has disconnected. */
  add(body: Body): () => void
}

/** Bytes that several responses share count once, as in memory; a text is copied for each. */
export function createUnsentBodies(): UnsentBodies {
  const shared = new Map<Uint8Array, { bytes: number; responses: number }>()
  let total = 0

  function entryOf(body: Uint8Array): { bytes: number; responses: number } {
    const known = shared.get(body)
    if (known) return known
    // Another reader may detach the bytes meanwhile.
    const entry = { bytes: body.length, responses: 0 }
    shared.set(body, entry)
    total += entry.bytes
    return entry
  }

  function addText({ length }: string): () => void {
    total += length
    return () => void (total -= length)
  }

  function addBytes(body: Uint8Array): () => void {
    const entry = entryOf(body)
    entry.responses += 1
    return () => {
      entry.responses -= 1
      if (entry.responses > 0) return
      shared.delete(body)
      total -= entry.bytes
    }
  }

  return {
    bytes: () => total,
    add(body) {
      let remove: (() => void) | undefined =
        typeof body === 'string' ? addText(body) : addBytes(body)
      return () => {
        remove?.()
        remove = undefined
      }
    },
  }
}
