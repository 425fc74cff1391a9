import { styleText } from 'node:util'

import type { Terminal } from './terminal.ts'

/** The role of a text, which decides its style. */
export type Meaning = 'title' | 'aside' | 'good' | 'bad' | 'line'

const FORMATS = {
  title: 'bold',
  aside: 'dim',
  good: 'green',
  bad: 'red',
  line: 'cyan',
} as const satisfies Record<Meaning, string>

/** Returns `text` in the style of its role if `terminal` has colours. */
export function styled(meaning: Meaning, text: string, { hasColour }: Terminal): string {
  return hasColour ? styleText(FORMATS[meaning], text, { validateStream: false }) : text
}
