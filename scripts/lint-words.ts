// Refuses phrases that make sentences hard to read, in the files given or in everything that is read: `node scripts/lint-words.ts [file…]`.
import { globSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const READ = [
  '{src,adapters,explorer,examples,bench,test}/**/*.ts',
  '{docs,skills,.github}/**/*.{md,yml}',
  '{README,CHANGELOG}.md',
  'scripts/*.{ts,mjs}',
]

/** Not written by hand, and the list itself. */
const SKIPPED = /generated|lint-words|node_modules/

/** The phrases, and what to write in their place. */
const PHRASES: readonly (readonly [phrase: RegExp, plain: string])[] = [
  [/\b(tells?|told)\b/, 'returns, prints, reports'],
  [/\bwhoever\b/, 'the caller, the client, the provider'],
  [/\bwhatever\b/, 'the noun'],
  [/\b(?:nobody|somebody)\b/, 'no client, another process'],
  [/\banew\b/, 'again'],
  [/\balike\b/, 'both, equally'],
  [/\bso many\b/, 'the number'],
  [/\bfor how many ms\b/, 'how long, in ms'],
  [/\bbe had\b/, 'available'],
  [/\bis no (?!longer|more|less|later|earlier)/, 'is not a'],
  [/\bare none\b/, 'do not exist'],
  [/\bbehind an answer\b/, 'in the background'],
  [/\bwith nothing said\b/, 'by default'],
  [/\bof its own\b/, 'its own'],
  [/\bgoes by\b/, 'uses'],
  [/\bstands for\b/, 'means'],
  [/\bleft alone\b/, 'in backoff'],
]

/** Returns the phrases in `text`, with their lines; a phrase may go on in the next line of a comment. */
export function findPhrases(text: string): { line: number; phrase: string; plain: string }[] {
  return PHRASES.flatMap(([pattern, plain]) => {
    const source = pattern.source.replaceAll(' ', String.raw`\s+(?:(?:\*|//|#|>)\s+)?`)
    return Array.from(text.matchAll(new RegExp(source, 'gi')), ({ 0: phrase, index }) => ({
      line: text.slice(0, index).split('\n').length,
      phrase: phrase.trim().replaceAll(/\s+[*/#>\s]*/g, ' '),
      plain,
    }))
  })
}

function lint(paths: readonly string[]): number {
  const found = paths.flatMap((path) =>
    findPhrases(readFileSync(path, 'utf8')).map(
      ({ line, phrase, plain }) => `${path}:${line}: "${phrase}" (write: ${plain})`,
    ),
  )
  process.stderr.write(found.map((line) => `${line}\n`).join(''))
  return found.length
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const given = process.argv.slice(2)
  const paths = given.length > 0 ? given : globSync(READ).filter((path) => !SKIPPED.test(path))
  process.exitCode = lint(paths) > 0 ? 1 : 0
}
