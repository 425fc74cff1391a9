/** A list of codes that the browser keeps. */
export interface CodeMemory {
  /** Returns the kept codes, or those of the start. */
  read(): readonly string[]
  /** Keeps `codes`; where the browser refuses, until the page is closed. */
  write(codes: readonly string[]): void
}

/** Creates the list with `name` in local storage; it has the codes of `start` until others are written. */
export function createCodeMemory(name: string, start: readonly string[]): CodeMemory {
  let codes: readonly string[] | undefined
  return {
    read: () => (codes ??= storedCodes(name) ?? start),
    write(next) {
      codes = next
      try {
        localStorage.setItem(name, JSON.stringify(next))
      } catch {
        // The browser refuses storage.
      }
    },
  }
}

/** Returns the stored codes; undefined without any, and where something else is stored. */
function storedCodes(name: string): string[] | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(name) ?? '')
    const isList = Array.isArray(stored) && stored.every((code) => typeof code === 'string')
    return isList ? stored : undefined
  } catch {
    return undefined
  }
}
