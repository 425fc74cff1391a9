// Prints one SHA-256 over the answers to a fixed list of questions, and one for each group of them. With `--frozen`
// nothing can be added to Object.prototype meanwhile, nor anything of it changed.
import { createHandlerOn } from '../../src/handler.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, ask, entries, toQuestion } from '../catalogue/catalogue.ts'
import type { Entry } from '../catalogue/catalogue.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

type Asked = Pick<Entry, 'group' | 'method' | 'target' | 'headers' | 'door'>

const AMOUNTS = [
  '0',
  '.1',
  '0.3',
  '1.005',
  '2.675',
  '1e-7',
  '4.9e-324',
  '1e-310',
  '3.3333333333333333',
  '123456789.123456789',
  '9007199254740993',
  '999999999999999.9',
  '1e21',
  '1e22',
  '123456789012345678901234567890',
  '1.7976931348623157e300',
]
const PERIODS = ['1W', '1M', '3M', '6M', '1Y', '5Y']

// Read before the freezing: Bun makes these when they are first asked for, and could not any more.
const { argv, stdout } = process
if (argv.includes('--frozen')) Object.freeze(Object.prototype)

// On a real machine the moment of the next refresh, which Cache-Status tells, is drawn by lot.
const handler = createHandlerOn(() => virtualRuntime(NOW), {
  now: () => NOW,
  providers: fakeProviders({ seed: 1 }),
})
await handler.refresh()

const answers = new Map<string, string[]>()
for (const asked of [...entries.filter((entry) => !entry.bun), ...(await goodQuestions())]) {
  const { method, target, headers } = await toQuestion(handler, asked)
  const reply = await ask(handler, { method, target, headers }, asked.door)
  const group = answers.get(asked.group) ?? []
  group.push(
    JSON.stringify([method, target, reply.status, Object.entries(reply.headers), reply.body]),
  )
  answers.set(asked.group, group)
}

const groups: Record<string, string> = {}
for (const [group, lines] of answers) groups[group] = await digestOf(lines)
const all = [...answers.values()].flat()
const result = { answers: all.length, digest: await digestOf(all), groups }
stdout.write(`${JSON.stringify(result)}\n`)

async function goodQuestions(): Promise<Asked[]> {
  const { rates } = await handler.rates.latest()
  const codes = Object.keys(rates)
  const covered = await coveredCodes()
  return [
    ...codes.map((code) => get('bases', `/api/v1/latest?base=${code}`)),
    ...codes.map((code) => get('tables', `/api/rates?base=${code}`)),
    ...AMOUNTS.flatMap((amount, row) =>
      pairsOf(codes, 25, row).map(([from, to]) =>
        get('conversions', `/api/v1/convert?from=${from}&to=${to}&amount=${amount}`),
      ),
    ),
    ...pairsOf(codes, 25, AMOUNTS.length).map(([from, to]) =>
      get('earlier conversions', `/api/convert?from=${from}&to=${to}&amount=0.7`),
    ),
    ...PERIODS.flatMap((period) =>
      pairsOf(covered, 50, 0).map(([from, to]) =>
        get(`history ${period}`, `/api/v1/history?from=${from}&to=${to}&period=${period}`),
      ),
    ),
  ]
}

/** The codes of history, which the refusal of another lists. */
async function coveredCodes(): Promise<string[]> {
  const { body } = await ask(handler, get('', '/api/v1/history?from=EUR&to=KID'))
  return body.match(/(?<=[ (])[A-Z]{3}(?=[,)])/g) ?? []
}

/** `count` pairs spread over `codes`; another `start` gives other pairs. */
function pairsOf(codes: readonly string[], count: number, start: number): [string, string][] {
  const at = (index: number): string => codes[index % codes.length] ?? ''
  return Array.from({ length: count }, (_, index) => [
    at(start + index * 7),
    at(start * 3 + index * 11 + 1),
  ])
}

function get(group: string, target: string): Asked {
  return { group, method: 'GET', target }
}

async function digestOf(lines: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(lines.join('\n'))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
