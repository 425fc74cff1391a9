// Measures the time of responses in process against a lower bound for each. Prints Markdown; on Node exits with 1 if a
// goal is missed.
import { parseArgs } from 'node:util'

import { compare } from './core/comparison.ts'
import type { Effort } from './core/comparison.ts'
import { MAX_MS_PER_TURN, MAX_MS_PER_UNIT, requestCosts } from './core/costs.ts'
import { computedHistories, firstLoads } from './core/histories.ts'
import { quotes } from './core/quotes.ts'
import { cachedResponses, freshConversions } from './core/responses.ts'
import { print } from './figures.ts'

const EFFORT: Effort = { rounds: 9, time: 250, batch: 512 }
/** Only tests that the bench runs: without warm-up, without goals. */
const QUICK: Effort = { rounds: 1, time: 2, batch: 16 }

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    'no-judge': { type: 'boolean' },
    only: { type: 'string', default: '' },
  },
})
const runtime = 'Bun' in globalThis ? 'Bun' : 'Deno' in globalThis ? 'Deno' : 'Node'
const checksGoals = runtime === 'Node' && !values.quick && !values['no-judge']

const comparisons = [
  ...(await cachedResponses()),
  ...(await freshConversions()),
  ...(await quotes()),
  ...(await computedHistories()),
  ...firstLoads(),
].filter(({ name }) => name.includes(values.only))
if (comparisons.length === 0 && values.only !== 'costs')
  throw new Error(`no row contains ${values.only}`)

print(`${runtime} ${process.versions[runtime === 'Node' ? 'node' : runtime.toLowerCase()]}\n`)
print('| what | µs | reference | µs | ratio | goal |')
print('| --- | --- | --- | --- | --- | --- |')
let isGood = true
for (const comparison of comparisons) {
  const { name, reference, goal } = comparison
  const outcome = await compare(comparison, values.quick ? QUICK : EFFORT)
  const verdict = goal === undefined ? '' : checkGoal(outcome.ratio, goal, goal.toFixed(1))
  const [ours, theirs] = [outcome.ours, outcome.reference].map((time) => time.toFixed(2))
  const [low, high] = outcome.interval.map((ratio) => ratio.toFixed(2))
  const ratio = `${outcome.ratio.toFixed(2)} (${low}–${high})`
  print(`| ${name} | ${ours} | ${reference.name} | ${theirs} | ${ratio} | ${verdict} |`)
}
if (values.only === '' || values.only === 'costs') {
  print('\n| request | ms of CPU | cost | ms per unit | goal | longest turn, ms | goal |')
  print('| --- | --- | --- | --- | --- | --- | --- |')
  const costs = await requestCosts(values.quick ? 2 : EFFORT.time)
  for (const { name, milliseconds, cost, turn } of costs) {
    const each = milliseconds / cost
    const verdict = checkGoal(each, MAX_MS_PER_UNIT, `${MAX_MS_PER_UNIT}`)
    const turns = `${turn.toFixed(1)} | ${checkGoal(turn, MAX_MS_PER_TURN, `${MAX_MS_PER_TURN}`)}`
    print(
      `| ${name} | ${milliseconds.toFixed(1)} | ${cost} | ${each.toFixed(1)} | ${verdict} | ${turns} |`,
    )
  }
}
process.exit(isGood || !checksGoals ? 0 : 1)

function checkGoal(figure: number, most: number, goal: string): string {
  if (!checksGoals) return goal
  const isReached = figure <= most
  isGood &&= isReached
  return `${goal}: ${isReached ? 'ok' : 'missed'}`
}
