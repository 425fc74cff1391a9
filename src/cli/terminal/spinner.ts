import type { CommandContext } from '../context.ts'

/** Shorter work shows no spinner. */
const DELAY_MS = 300

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
  }, DELAY_MS)
  try {
    return await work
  } finally {
    clearTimeout(timer)
    if (hasDrawn) stderr.write(ERASED)
  }
}
