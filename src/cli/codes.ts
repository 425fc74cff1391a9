/** The codes of a list with commas between them, as they were sent. */
export function splitCodes(text: string): string[] {
  return text
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '')
}
