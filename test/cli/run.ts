import { runCommand } from '../../src/cli/run-command.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'

/** What a test replaces of the process and the machine. */
export interface Surroundings {
  /** Replaces the environment, which is empty otherwise. */
  env?: NodeJS.ProcessEnv
  /** Makes both outputs terminals of so many characters a line. */
  columns?: number
  platform?: string
  versions?: Record<string, string | undefined>
  now?: () => number
  /** Without a home folder, nothing is kept. */
  home?: string
  fetch?: typeof fetch
  /** Receives what is written to stderr, piece by piece. */
  onNote?: (text: string) => void
}

/** What a command has written, and its exit code. */
export interface Ran {
  code: number
  stdout: string
  stderr: string
}

/** The clock of commands: a Friday, when the reference rates of that day are published. */
export const NOW: number = Date.parse('2026-11-20T19:05:59Z')

export const DAY = 86_400_000

/** Fails as a machine without a network does. */
export const offline: typeof fetch = async () => {
  throw new Error('connect ECONNREFUSED')
}

/** Runs `ratesmith` with `args`, on a machine that has nothing but what `surroundings` name. */
export async function run(args: string[], surroundings: Surroundings = {}): Promise<Ran> {
  const { columns, onNote, env = {}, platform = 'linux', home = '' } = surroundings
  const { versions = process.versions, now = () => NOW, fetch = offline } = surroundings
  const ran = { stdout: '', stderr: '' }
  const terminal = columns === undefined ? {} : { isTTY: true, columns }
  const code = await runCommand(args, {
    stdout: { ...terminal, on() {}, write: (text) => (ran.stdout += text) },
    stderr: {
      ...terminal,
      on() {},
      write(text) {
        ran.stderr += text
        onNote?.(text)
      },
    },
    env,
    platform,
    home,
    versions,
    now,
    fetch,
  })
  return { code, ...ran }
}

/** The lines that `ratesmith` shows on a terminal without colours, so many characters wide. */
export async function show(
  args: string[],
  columns: number,
  surroundings: Surroundings = {},
): Promise<string[]> {
  const env = { LANG: 'C.UTF-8', NO_COLOR: '1', ...surroundings.env }
  const { stdout } = await run(args, { ...surroundings, columns, env })
  return stdout.trimEnd().split('\n')
}

/** What both upstreams publish. */
export interface Published {
  now?: () => number
  /** Replaces fields of the answer of ExchangeRate-API. */
  latest?: Record<string, unknown>
  /** Rates of the Swiss franc by days, instead of a whole market. */
  francs?: Record<string, number>
}

/** The URL of a call of `fetch`. */
export function urlOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : input.toString()
}

/** A `fetch` that answers as ExchangeRate-API and Frankfurter do. */
export function publish(published: Published = {}): typeof fetch {
  const { now = () => NOW, latest = {}, francs } = published
  return async (input) => {
    const url = urlOf(input)
    const [, start = '', end = ''] = /\/v1\/([\d-]+)\.\.([\d-]+)$/.exec(url) ?? []
    if (start === '') return new Response(openErApiPayload({ now: now(), overrides: latest }))
    if (francs === undefined) return new Response(frankfurterPayload({ start, end, now: now() }))
    const days = Object.entries(francs).filter(([day]) => day >= start && day <= end)
    const rates = Object.fromEntries(days.map(([day, rate]) => [day, { CHF: rate, USD: 1 }]))
    const [first] = days[0] ?? [start]
    const [last] = days.at(-1) ?? [end]
    return Response.json({ amount: 1, base: 'EUR', start_date: first, end_date: last, rates })
  }
}
