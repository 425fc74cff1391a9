/** Returns whether `text` has the form of a currency code, three ASCII letters in either case; the currency may not exist. */
export function isCodeShaped(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z]{3}$/.test(text)
}

/** Returns whether `text` is three ASCII capitals. Without a regular expression, because a history has about 40,000 codes. */
export function isCode(text: unknown): text is string {
  if (typeof text !== 'string' || text.length !== 3) return false
  return (
    isCapital(text.charCodeAt(0)) && isCapital(text.charCodeAt(1)) && isCapital(text.charCodeAt(2))
  )
}

function isCapital(unit: number): boolean {
  return unit >= 0x41 && unit <= 0x5a
}
