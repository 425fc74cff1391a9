import { readFileSync, readdirSync } from 'node:fs'

function textOf(folder: string): string {
  const root = new URL(`../../src/${folder}`, import.meta.url)
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const sources = names.filter((name) => name.endsWith('.ts') && !name.startsWith('generated'))
  return sources.map((name) => readFileSync(new URL(name, root), 'utf8')).join('\n')
}

function wordsOf(text: string): string[] {
  return [...new Set(text.match(/\b[A-Za-z]\w*\b/g))]
}

/** All words of the sources that read queries, which include the names of all parameters. */
export const words: string[] = wordsOf(['api/', 'endpoints/'].map(textOf).join('\n'))

const text = textOf('')

/** All strings of the sources that could be paths, and all paths of one word. */
export const paths: string[] = [
  ...new Set([
    ...Array.from(text.matchAll(/['"`](\/[\w./-]+)['"`]/g), ([, path = '']) => path),
    ...wordsOf(text).flatMap((word) => [`/${word}`, `/v1/${word}`]),
  ]),
]
