import { readFileSync, readdirSync } from 'node:fs'

const SOURCES = new URL('../../src/', import.meta.url)

const text = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('generated'))
  .map((name) => readFileSync(new URL(name, SOURCES), 'utf8'))
  .join('\n')

/** Every word of the sources, and with it the name of every parameter that is read anywhere. */
export const words: string[] = [...new Set(text.match(/\b[A-Za-z]\w*\b/g))]

/** Every text of the sources that could be a path, and every path that one of their words makes. */
export const paths: string[] = [
  ...new Set([
    ...Array.from(text.matchAll(/['"`](\/[\w./-]+)['"`]/g), ([, path = '']) => path),
    ...words.flatMap((word) => [`/${word}`, `/v1/${word}`]),
  ]),
]
