/** How much of what an upstream says goes into a line, in characters. */
const LONGEST_TEXT = 500

/** One line that no terminal obeys, whatever an upstream put into it. */
export function printable(text: string): string {
  return text.slice(0, LONGEST_TEXT).replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
}
