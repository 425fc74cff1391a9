/** The capabilities of an output. */
export interface Terminal {
  /** False for a pipe or a file. */
  isTTY: boolean
  /** Width in characters. */
  width: number
  hasColour: boolean
  /** Whether it shows non-ASCII characters. */
  hasUnicode: boolean
}

interface Stream {
  isTTY?: boolean
  columns?: number
}

/** The width of a terminal that does not report one. */
const DEFAULT_WIDTH = 80

/** Returns the capabilities of `stream` in the environment `env` on `platform`. */
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
    // A terminal without a known size reports 0.
    width: columns || DEFAULT_WIDTH,
    hasColour: isTTY && !isDumb && !env['NO_COLOR'],
    hasUnicode: !isDumb && (platform === 'win32' || /utf-?8/i.test(locale)),
  }
}
