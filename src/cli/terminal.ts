import { styleText } from 'node:util'

import type { CommandContext } from './context.ts'

export interface Terminal {
  /** False for a pipe or a file. */
  isTTY: boolean
  width: number
  hasColour: boolean
  hasUnicode: boolean
}

const DEFAULT_WIDTH = 80

export function describeTerminal({ stdout, env, platform }: CommandContext): Terminal {
  const { isTTY = false, columns } = stdout
  const isDumb = env['TERM'] === 'dumb'
  // As in Node, it wins over NO_COLOR.
  const forced = env['FORCE_COLOR']
  const isForced = forced !== '0' && forced !== 'false'
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return {
    isTTY,
    // A terminal without a known size reports 0.
    width: columns || DEFAULT_WIDTH,
    hasColour: forced === undefined ? isTTY && !isDumb && !env['NO_COLOR'] : isForced,
    hasUnicode: !isDumb && (platform === 'win32' || /utf-?8/i.test(locale)),
  }
}

const STYLES = { title: 'bold', aside: 'dim', good: 'green', bad: 'red', line: 'cyan' } as const

type Role = keyof typeof STYLES

export function styled(role: Role, text: string, { hasColour }: Terminal): string {
  return hasColour ? styleText(STYLES[role], text, { validateStream: false }) : text
}

export function styledLines(role: Role, text: string, terminal: Terminal): string[] {
  return wrapped(text, terminal.width).map((line) => styled(role, line, terminal))
}

/** Wraps `text` at spaces into lines of at most `width` characters; longer words are not split. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ').filter((each) => each !== '')) {
    const line = lines.at(-1)
    const longer = line === undefined ? word : `${line} ${word}`
    if (line === undefined || longer.length > width) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

/** Cuts `text` to the width of the terminal; its last character then marks the omission. */
function shortened(text: string, { width, hasUnicode }: Terminal): string {
  if (text.length <= width) return text
  return `${text.slice(0, Math.max(width - 1, 0))}${hasUnicode ? '…' : '.'}`.slice(0, width)
}

/** Groups the digits before the point: `1,234.5`; numbers with an exponent stay as they are. */
export function grouped(number: number | string): string {
  return String(number).replace(/\d+/, (whole) => BigInt(whole).toLocaleString('en'))
}

export function alignedNumbers(numbers: readonly (number | string)[]): string[] {
  const parts = numbers.map((number) => {
    const [, whole = '', rest = ''] = /^(-?[\d,]+)(.*)$/.exec(grouped(number)) ?? []
    return { whole, rest }
  })
  const before = Math.max(0, ...parts.map(({ whole }) => whole.length))
  const behind = Math.max(0, ...parts.map(({ rest }) => rest.length))
  return parts.map(({ whole, rest }) => whole.padStart(before) + rest.padEnd(behind))
}

export function toTable(
  rows: readonly (readonly string[])[],
  role: Role,
  terminal: Terminal,
): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const [head = '', ...others] = lines.map((line) => shortened(line, terminal))
  return [styled(role, head, terminal), ...others]
}

/** A name shortened below this length is useless. */
const MIN_NAME_LENGTH = 6

/** A table of the first columns that fit, at least two; those of names may be cut. */
export function toColumnTable(
  columns: readonly (readonly string[])[],
  terminal: Terminal,
): string[] {
  const widths = columns.map(([head = '', ...cells]) =>
    head === 'name'
      ? MIN_NAME_LENGTH
      : Math.max(head.length, ...cells.map((cell) => cell.trimEnd().length)),
  )
  const widthOf = (count: number): number =>
    widths.slice(0, count).reduce((sum, width) => sum + width + 2, -2)
  const shown = columns.filter((_, index) => index < 2 || widthOf(index + 1) <= terminal.width)
  const rows = (shown[0] ?? []).map((_, row) => shown.map((column) => column[row] ?? ''))
  return toTable(rows, 'aside', terminal)
}

const MINUTE_MS = 60_000

const UNITS = [
  { name: 'day', length: 1_440 * MINUTE_MS },
  { name: 'hour', length: 60 * MINUTE_MS },
  { name: 'minute', length: MINUTE_MS },
]

/** Formats an age in ms: `3 hours ago`. */
export function toAge(age: number): string {
  const unit = UNITS.find(({ length }) => age >= length)
  if (!unit) return 'just now'
  const count = Math.floor(age / unit.length)
  return `${count} ${unit.name}${count === 1 ? '' : 's'} ago`
}

/** Formats ms since the Unix epoch: `2026-11-20 19:00 UTC`. */
export function toMinute(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** Shorter work shows no spinner. */
const SPINNER_DELAY_MS = 300

const FRAME_INTERVAL_MS = 100

const FRAMES = ['-', '\\', '|', '/']

const ERASED = '\r\u001B[K'

/** Shows a spinner on stderr until `work` settles, then erases it; shows nothing unless stderr is a terminal. */
export async function withSpinner<Result>(
  { stderr, env }: CommandContext,
  label: string,
  work: Promise<Result>,
): Promise<Result> {
  if (!stderr.isTTY || env['TERM'] === 'dumb') return work
  let frame = 0
  let hasDrawn = false
  const draw = (): void => {
    hasDrawn = true
    stderr.write(`\r${FRAMES[frame++ % FRAMES.length]} ${label}`)
  }
  let timer = setTimeout(() => {
    draw()
    timer = setInterval(draw, FRAME_INTERVAL_MS)
  }, SPINNER_DELAY_MS)
  try {
    return await work
  } finally {
    clearTimeout(timer)
    if (hasDrawn) stderr.write(ERASED)
  }
}
