import { runCommand } from '../../src/cli/run-command.ts'
import { createSyntheticMarket } from '../../src/testing/synthetic-market.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'

type Context = Parameters<typeof runCommand>[1]

/** What a test replaces of the process and the machine. */
export interface Surroundings extends Partial<Omit<Context, 'stdout' | 'stderr'>> {
  /** Makes both outputs terminals of this width, in characters. */
  columns?: number
  /** Receives what is written to stderr, piece by piece. */
  onNote?: (text: string) => void
}

/** The clock of commands: a Friday whose reference rates have been published. */
export const NOW: number = Date.parse('2026-11-20T19:05:59Z')

export const DAY = 86_400_000

/** Computes a rate once for all tests. */
const market = createSyntheticMarket(1)

/** Runs `ratesmith` with `args` on a machine without environment, network and home folder, but for the `surroundings`. */
export async function run(args: string[], surroundings: Surroundings = {}) {
  const { columns, onNote, ...replaced } = surroundings
  const ran = { stdout: '', stderr: '' }
  const terminal = columns === undefined ? {} : { isTTY: true, columns }
  const code = await runCommand(args, {
    stdout: { ...terminal, on() {}, write: (text) => (ran.stdout += text) },
    stderr: { ...terminal, on() {}, write: (text) => ((ran.stderr += text), onNote?.(text)) },
    env: {},
    platform: 'linux',
    home: '',
    versions: process.versions,
    now: () => NOW,
    fetch: () => Promise.reject(new Error('connect ECONNREFUSED')),
    ...replaced,
  })
  return { code, ...ran }
}

/** The lines that `ratesmith` shows on a terminal of this width without colours. */
export async function show(args: string[], columns: number, surroundings: Surroundings = {}) {
  const env = { LANG: 'C.UTF-8', NO_COLOR: '1', ...surroundings.env }
  const { stdout } = await run(args, { ...surroundings, columns, env })
  return stdout.trimEnd().split('\n')
}

/** What `ratesmith doctor` found about one thing. */
export interface Finding {
  subject: string
  ok: boolean
  found: string
  advice: string | null
}

/** What `ratesmith doctor` finds. */
export async function examine(args: string[], surroundings: Surroundings): Promise<Finding[]> {
  const { stdout } = await run(['doctor', '--json', ...args], surroundings)
  return JSON.parse(stdout).findings
}

/** The URL of a call of `fetch`. */
export function urlOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : input.toString()
}

/** What the upstreams publish. */
interface Published {
  now?: () => number
  /** Fields that replace those of ExchangeRate-API's answer. */
  latest?: Record<string, unknown>
  /** Rates of the Swiss franc by days, instead of a whole market. */
  francs?: Record<string, number>
}

/** A `fetch` that answers as ExchangeRate-API and Frankfurter do. */
export function publish({ now = () => NOW, latest = {}, francs }: Published = {}): typeof fetch {
  return async (input) => {
    const [, start = '', end = ''] = /\/v1\/([\d-]+)\.\.([\d-]+)$/.exec(urlOf(input)) ?? []
    const shared = { now: now(), market }
    if (start === '') return new Response(openErApiPayload({ ...shared, overrides: latest }))
    if (francs === undefined) return new Response(frankfurterPayload({ ...shared, start, end }))
    const days = Object.entries(francs).filter(([day]) => day >= start && day <= end)
    const rates = Object.fromEntries(days.map(([day, rate]) => [day, { CHF: rate, USD: 1 }]))
    return Response.json({ amount: 1, base: 'EUR', start_date: start, end_date: end, rates })
  }
}
