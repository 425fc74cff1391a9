/** Whether `text` has the form of a currency code: three ASCII letters in either case. It need not exist. */
export function isCodeShaped(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z]{3}$/.test(text)
}

/** Whether `text` is a code as data carry it: three ASCII capitals. By hand, as a history has some 40,000 of them. */
export function isCode(text: unknown): text is string {
  if (typeof text !== 'string' || text.length !== 3) return false
  return (
    isCapital(text.charCodeAt(0)) && isCapital(text.charCodeAt(1)) && isCapital(text.charCodeAt(2))
  )
}

function isCapital(unit: number): boolean {
  return unit >= 0x41 && unit <= 0x5a
}
