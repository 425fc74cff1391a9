import { styleText } from 'node:util'

import type { Terminal } from './terminal.ts'

/** What a text means, which a terminal with colours shows. */
export type Meaning = 'title' | 'aside' | 'good' | 'bad' | 'line'

const FORMATS = {
  title: 'bold',
  aside: 'dim',
  good: 'green',
  bad: 'red',
  line: 'cyan',
} as const satisfies Record<Meaning, string>

/** `text` in the style of what it means, where `terminal` has colours. */
export function styled(meaning: Meaning, text: string, { hasColour }: Terminal): string {
  return hasColour ? styleText(FORMATS[meaning], text, { validateStream: false }) : text
}
