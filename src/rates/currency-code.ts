/** Whether `text` has the form of a currency code: three ASCII letters in either case. It need not exist. */
export function isCodeShaped(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z]{3}$/.test(text)
}

/** Whether `text` is a code as data carry it: three ASCII capitals. */
export function isCode(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Z]{3}$/.test(text)
}
