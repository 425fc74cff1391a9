/**
 * Creates a list of codes with `name` in local storage, which has those of `start` until others are written. Where the browser
 * refuses storage, it is kept until the page is closed.
 */
export function createCodeMemory(name: string, start: readonly string[]) {
  let codes: readonly string[] | undefined
  return {
    read: (): readonly string[] => (codes ??= storedCodes(name) ?? start),
    write(next: readonly string[]): void {
      codes = next
      try {
        localStorage.setItem(name, JSON.stringify(next))
      } catch {
        // The browser refuses storage.
      }
    },
  }
}

/** Returns undefined without stored codes, and where something else is stored. */
function storedCodes(name: string): string[] | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(name) ?? '')
    const isList = Array.isArray(stored) && stored.every((code) => typeof code === 'string')
    return isList ? stored : undefined
  } catch {
    return undefined
  }
}

/** The codes with a star, in the order of the table. */
export const favourites = createCodeMemory('ratesmith-favourites', ['EUR', 'USD', 'GBP', 'JPY'])
