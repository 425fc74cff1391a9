/** A regular expression that stands in a source. */
export interface FoundPattern {
  path: string
  pattern: RegExp
}

/** A literal, behind what cannot be the end of a value; a slash in brackets does not end it. */
const LITERAL =
  /(?<=(?:[=(,:?[!&|;{}]|=>|return|\n)\s*)\/(?![/*])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[.,;)\]\s])/g

/** Every regular expression in `sources`, as far as it is written as a literal. */
export function findPatterns(sources: readonly { path: string; text: string }[]): FoundPattern[] {
  return sources.flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(LITERAL)].map(([, source = '', flags]) => ({
      path,
      pattern: new RegExp(source, flags),
    })),
  )
}

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
}
