import type { CommandContext } from '../context.ts'

/** Work that takes no longer than this, in ms, needs no sign of life. */
const DELAY_MS = 300

const FRAME_INTERVAL_MS = 100

const FRAMES = ['-', '\\', '|', '/']

const ERASED = '\r\u001B[K'

/** Shows on stderr that `work` is under way, on a line that is gone when it is done; nothing where nobody reads along. */
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
