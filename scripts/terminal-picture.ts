import { runCommand } from '../src/cli/run-command.ts'

/** The time in the pictures: a Friday evening, after the reference rates of the day. */
export const NOW: number = Date.UTC(2026, 10, 20, 18)

const COMMANDS = ['100 usd to eur,gbp,jpy --demo', 'history usd/eur --period 1Y --demo']
const COLUMNS = 76

/** Sizes in px. */
const CELL = { width: 8.4, height: 19 }
const BORDER = 18

const FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
const ESCAPE = '\u001B['
const PLAIN = '#d5dbe3'
const BOLD = '#ffffff'

/** Colours by the number of the escape sequence; other numbers reset the colour. */
const COLOURS: Record<string, string> = { 1: BOLD, 2: '#9aa4b2', 32: '#56d364', 36: '#56d4dd' }

/** Strokes of box-drawing characters, as points in a cell of 2 by 2. */
const LINES: Record<string, string> = { '│': '10 12', '└': '10 11 21', '─': '01 21' }

/** Column and row of each braille dot, by its bit. */
const DOTS = '00 01 02 10 11 12 03 13'.split(' ')

/** Runs the commands on the synthetic market and returns the output on a terminal, as an SVG. */
export async function terminalPicture(): Promise<string> {
  const outputs = await Promise.all(
    COMMANDS.map(async (command) => {
      const prompt = `${ESCAPE}32m$${ESCAPE}0m ${ESCAPE}1mnpx ratesmith ${command}`
      return [prompt, ...(await outputOf(command)).trimEnd().split('\n')]
    }),
  )
  const lines = outputs.flatMap((output, index) => (index === 0 ? output : ['', ...output]))
  const width = Math.ceil(COLUMNS * CELL.width + 2 * BORDER)
  const height = lines.length * CELL.height + 2 * BORDER
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="${FONT}" font-size="14">
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="#10151d" stroke="#3a4350"/>
${lines.flatMap((line, row) => drawLine(line, BORDER + row * CELL.height)).join('\n')}
</svg>
`
}

async function outputOf(command: string): Promise<string> {
  let text = ''
  const write = (part: string): unknown => (text += part)
  const terminal = { isTTY: true, columns: COLUMNS, on() {}, write }
  const code = await runCommand(command.split(' '), {
    stdout: terminal,
    // Without a spinner, which a busy machine would show.
    stderr: { ...terminal, isTTY: false },
    env: { LANG: 'C.UTF-8' },
    platform: 'linux',
    versions: process.versions,
    home: '',
    now: () => NOW,
  })
  if (code !== 0) throw new Error(`ratesmith ${command} ended with ${code}: ${text}`)
  return text
}

function drawLine(line: string, top: number): string[] {
  const [plain = '', ...styled] = line.split(ESCAPE)
  let column = plain.length
  return [
    ...drawText(plain, BORDER, top, PLAIN),
    ...styled.flatMap((part) => {
      const [, code = '', text = ''] = /^(\d+)m(.*)/.exec(part) ?? []
      const left = BORDER + column * CELL.width
      column += text.length
      return drawText(text, left, top, COLOURS[code] ?? PLAIN)
    }),
  ]
}

/** Draws words as text of a fixed width, and the rest as a path, which needs no font. */
function drawText(text: string, left: number, top: number, colour: string): string[] {
  const style = colour === BOLD ? `fill="${colour}" font-weight="bold"` : `fill="${colour}"`
  const words = [...text.matchAll(/[!-~]+(?: [!-~]+)*/g)].map(({ 0: word, index }) => {
    const place = `x="${px(left + index * CELL.width)}" y="${px(top + 14)}"`
    const escaped = word.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    return `<text ${place} textLength="${px(word.length * CELL.width)}" ${style}>${escaped}</text>`
  })
  const path = Array.from(text, (character, index) =>
    strokesOf(character, left + index * CELL.width, top),
  )
  const strokes = path.join('')
  if (strokes === '') return words
  const pen = `stroke="${colour}" stroke-width="2.4" stroke-linecap="round" fill="none"`
  return [...words, `<path d="${strokes}" ${pen}/>`]
}

function strokesOf(character: string, left: number, top: number): string {
  const place = (x: number, y: number): string =>
    `${px(left + x * CELL.width)} ${px(top + y * CELL.height)}`
  const points = LINES[character]?.split(' ')
  if (points) return `M${points.map(([x, y]) => place(Number(x) / 2, Number(y) / 2)).join('L')}`
  const bits = (character.codePointAt(0) ?? 0) - 0x28_00
  if (bits < 0 || bits > 0xff) return ''
  const dots = DOTS.filter((_, bit) => bits & (1 << bit))
  // Strokes of no length: their round ends are dots.
  return dots.map(([x, y]) => `M${place(Number(x) / 2 + 0.25, Number(y) / 4 + 0.125)}h0`).join('')
}

/** Rounds to a tenth of a pixel. */
function px(value: number): number {
  return Math.round(value * 10) / 10
}
