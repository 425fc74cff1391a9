/** What an output is able to show. */
export interface Terminal {
  /** Whether a person reads along; else it is a pipe or a file. */
  isTTY: boolean
  /** Characters in a line. */
  width: number
  hasColour: boolean
  /** Whether it shows more than ASCII. */
  hasUnicode: boolean
}

/** The part of a stream that tells. */
interface Stream {
  isTTY?: boolean
  columns?: number
}

/** Where a terminal does not tell its width. */
const DEFAULT_WIDTH = 80

/** What `stream` is able to show in the environment `env` on `platform`. */
export function describeTerminal(
  stream: Stream,
  env: NodeJS.ProcessEnv,
  platform: string,
): Terminal {
  const { isTTY = false, columns } = stream
  const isDumb = env['TERM'] === 'dumb'
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return {
    isTTY,
    // A terminal that nobody has told its size says 0.
    width: columns || DEFAULT_WIDTH,
    hasColour: isTTY && !isDumb && !env['NO_COLOR'],
    hasUnicode: !isDumb && (platform === 'win32' || /utf-?8/i.test(locale)),
  }
}
