// Measures how the cost of requests grows with connections, currencies, years and rows. Prints a table, draws it in
// `bench/growth.svg`, and exits with 1 if a cost grows more than linearly.
import { writeFileSync } from 'node:fs'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders, fixedProviders } from 'ratesmith/testing'

import { cpuTimeOf } from './core/comparison.ts'
import { post } from './core/costs.ts'
import { NOW, request } from './core/responses.ts'
import { markdown, median, print } from './figures.ts'
import { measureRows } from './wire/rounds.ts'
import { rowsOf } from './wire/rows.ts'

interface Series {
  name: string
  sizes: readonly number[]
  /** Returns a function that measures the cost for a size, in µs of CPU. */
  prepare(size: number): Promise<() => Promise<number>>
  /** Measurements of each size, in turn; their median counts. */
  rounds: number
}

interface Point {
  size: number
  cost: number
}

const ROUNDS = 9
const ROUND_MS = 100

/** A cost may grow by this factor more than its size: so much do equal measurements differ. */
const TOLERANCE = 1.15

/** Of the drawing of a series. */
const [WIDTH, HEIGHT, MARGIN] = [360, 240, 44]

const market = createRatesHandler({ ...handlerOptions(), providers: fakeProviders() })

const SERIES: readonly Series[] = [
  {
    name: 'connections, in requests of a bare server',
    sizes: [1, 10, 100, 1_000],
    rounds: 1,
    async prepare(connections) {
      const rows = rowsOf('convert', ['node']).filter(({ id }) => id === 'direct')
      const how = { connections, rounds: 7, seconds: 1, maxWarmUps: 3 }
      return async () => {
        const samples = (await measureRows('convert', rows, how)).get('direct') ?? []
        const ratios = samples.map(({ cpu, reference }) => cpu / (reference?.cpu ?? NaN))
        return connections * median(ratios)
      }
    },
  },
  {
    name: 'currencies of a table',
    sizes: [30, 100, 300],
    rounds: ROUNDS,
    prepare: (count) => costOf(withCurrencies(count), request('/api/v1/latest?base=AAA')),
  },
  {
    name: 'years of a history',
    sizes: [1, 3, 9, 27],
    rounds: ROUNDS,
    prepare: (years) =>
      costOf(market, request(`/api/v1/history?from=USD&to=JPY&start=${2026 - years}-11-20`)),
  },
  {
    name: 'rows to convert',
    sizes: [1, 10, 100, 1_000, 10_000],
    rounds: ROUNDS,
    prepare: (rows) => costOf(market, post({ from: 'USD', to: 'EUR', amount: 9.5 }, rows)),
  },
]

const lines: string[][] = []
const panels: string[] = []
let isGood = true
for (const [index, { name, sizes, prepare, rounds }] of SERIES.entries()) {
  const measures: (() => Promise<number>)[] = []
  for (const size of sizes) measures.push(await prepare(size))
  const costs: number[][] = []
  for (let round = 0; round < rounds; round += 1) {
    const all: number[] = []
    for (const measure of measures) all.push(await measure())
    costs.push(all)
  }
  const medianAt = (at: number, before = -1): number =>
    median(costs.map((all) => (all[at] ?? NaN) / (before < 0 ? 1 : (all[before] ?? NaN))))
  const points = sizes.map((size, at) => ({ size, cost: medianAt(at) }))
  const isLinear = sizes.every(
    (size, at) => at === 0 || medianAt(at, at - 1) <= (TOLERANCE * size) / (sizes[at - 1] ?? NaN),
  )
  isGood &&= isLinear
  for (const { size, cost } of points) {
    lines.push([name, size.toLocaleString('en'), cost.toFixed(1), (cost / size).toFixed(2)])
  }
  panels.push(panelOf(name, points, index))
  print(`${isLinear ? 'ok' : 'missed'}: ${name}`)
}
print(`\n${markdown(['what', 'size', 'cost, µs of CPU', 'of each'], lines)}`)
writeFileSync('bench/growth.svg', drawing(panels))
process.exit(isGood ? 0 : 1)

function handlerOptions() {
  return { now: () => NOW, responseCacheBytes: 0 }
}

/** Returns a handler with as many currencies, of which most have invented codes. */
function withCurrencies(count: number): RatesHandler {
  const codes = Array.from({ length: count }, (_, index) =>
    [676, 26, 1].map((unit) => String.fromCharCode(65 + (Math.floor(index / unit) % 26))).join(''),
  )
  const [base = '', ...others] = codes
  const rates = Object.fromEntries(others.map((code, index) => [code, 1.234567 + index / 7]))
  return createRatesHandler({ ...handlerOptions(), providers: fixedProviders({ base, rates }) })
}

/** Returns a function that measures the cost of a request, in µs, after the first ones, which compile. */
async function costOf(
  handler: RatesHandler,
  sent: Parameters<RatesHandler['answer']>[0],
): Promise<() => Promise<number>> {
  const { status } = await handler.answer(sent)
  if (status !== 200) throw new Error(`${sent.target} has the status ${status}`)
  const measure = (): Promise<number> => cpuTimeOf(() => handler.answer(sent), ROUND_MS)
  await measure()
  return measure
}

/** Draws one series with logarithmic axes; the dashed line is linear growth from the first size. */
function panelOf(name: string, points: readonly Point[], index: number): string {
  const [first, last] = [points.at(0), points.at(-1)]
  if (!first || !last) return ''
  const [left, top] = [(index % 2) * WIDTH + MARGIN, Math.floor(index / 2) * HEIGHT + MARGIN]
  const span = Math.log(last.size / first.size)
  const place = ({ size, cost }: Point): string => {
    const x = left + (Math.log(size / first.size) / span) * (WIDTH - 2 * MARGIN)
    const y = top + (1 - Math.log(cost / first.cost) / span) * (HEIGHT - 2 * MARGIN)
    return `${x.toFixed(1)},${y.toFixed(1)}`
  }
  const linear = { size: last.size, cost: (first.cost * last.size) / first.size }
  const dots = points.map((point) => {
    const [x = '', y = ''] = place(point).split(',')
    const text = [point.size, Number(point.cost.toPrecision(3))]
      .map((each) => each.toLocaleString('en'))
      .join(': ')
    return `<circle cx="${x}" cy="${y}" r="3"/><text x="${x}" y="${Number(y) + 16}" class="size">${text}</text>`
  })
  return `<text x="${left}" y="${top - 20}">${name}</text>
<polyline points="${place(first)} ${place(linear)}" class="linear"/>
<polyline points="${points.map(place).join(' ')}"/>
${dots.join('\n')}`
}

function drawing(all: readonly string[]): string {
  const [width, height] = [2 * WIDTH, Math.ceil(all.length / 2) * HEIGHT]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">
<style>polyline{fill:none;stroke:#1d6f5c;stroke-width:2}.linear{stroke:#888;stroke-dasharray:4}circle{fill:#1d6f5c}.size{font-size:10px;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:4px}</style>
<rect width="${width}" height="${height}" fill="#fff"/>
${all.join('\n')}
</svg>
`
}
