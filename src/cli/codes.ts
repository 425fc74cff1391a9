/** Splits a comma-separated list of codes. */
export function splitCodes(text: string): string[] {
  return text
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '')
}
