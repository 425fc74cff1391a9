import { readFileSync, readdirSync } from 'node:fs'

const SOURCES = new URL('../../src/', import.meta.url)

const text = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('generated'))
  .map((name) => readFileSync(new URL(name, SOURCES), 'utf8'))
  .join('\n')

/** All words of the sources, which include the names of all parameters. */
export const words: string[] = [...new Set(text.match(/\b[A-Za-z]\w*\b/g))]

/** All strings of the sources that could be paths, and all paths of one word. */
export const paths: string[] = [
  ...new Set([
    ...Array.from(text.matchAll(/['"`](\/[\w./-]+)['"`]/g), ([, path = '']) => path),
    ...words.flatMap((word) => [`/${word}`, `/v1/${word}`]),
  ]),
]
