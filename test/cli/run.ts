import { runCommand } from '../../src/cli/run-command.ts'
import { marketOf } from '../fixtures/market.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'

type Context = Parameters<typeof runCommand>[1]

/** The parts of the process and the machine that a test replaces. */
export interface Surroundings extends Partial<Omit<Context, 'stdout' | 'stderr'>> {
  /** Makes both outputs terminals of this width in characters. */
  columns?: number
  onNote?: (text: string) => void
  onPrint?: (text: string) => void
}

/** The current time of commands: a Friday after the publication of its reference rates. */
export const NOW: number = Date.parse('2026-11-20T19:05:59Z')

export const DAY = 86_400_000

/** Shared by all tests, because it computes each rate once. */
const market = marketOf()

/** Runs `ratesmith` with `args`, without environment, network and home folder unless `surroundings` set them. */
export async function run(args: string[], surroundings: Surroundings = {}) {
  const { columns, onNote, onPrint, ...replaced } = surroundings
  const ran = { stdout: '', stderr: '' }
  const terminal = columns === undefined ? {} : { isTTY: true, columns }
  const code = await runCommand(args, {
    stdout: { ...terminal, on() {}, write: (text) => ((ran.stdout += text), onPrint?.(text)) },
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

/** Returns the lines that `ratesmith` shows on a terminal of this width without colours. */
export async function show(args: string[], columns: number, surroundings: Surroundings = {}) {
  const env = { LANG: 'C.UTF-8', NO_COLOR: '1', ...surroundings.env }
  const { stdout } = await run(args, { ...surroundings, columns, env })
  return stdout.trimEnd().split('\n')
}

export interface Finding {
  subject: string
  ok: boolean
  found: string
  advice: string | null
}

export async function examine(args: string[], surroundings: Surroundings): Promise<Finding[]> {
  const { stdout } = await run(['doctor', '--json', ...args], surroundings)
  return JSON.parse(stdout).findings
}

export function urlOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : input.toString()
}

/** The data that the fake upstreams publish. */
interface Published {
  now?: () => number
  /** Fields that replace those of ExchangeRate-API's response. */
  latest?: Record<string, unknown>
  /** Rates of the Swiss franc by day, instead of a whole market. */
  francs?: Record<string, number>
}

/** Returns a `fetch` that responds like ExchangeRate-API and Frankfurter. */
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
