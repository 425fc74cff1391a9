// What answers cost in process, beside what is the least for them. Prints Markdown, and on Node ends with 1 where a goal is
// missed.
import { parseArgs } from 'node:util'

import { freshConversion, rememberedAnswers } from './core/responses.ts'
import { coldHistories } from './core/cold-history.ts'
import { compare } from './core/comparison.ts'
import type { Effort } from './core/comparison.ts'
import { downloads } from './core/download.ts'
import { firstLoads, formsSince1999 } from './core/since-1999.ts'
import { wholeHistories } from './core/whole-history.ts'

const EFFORT: Effort = { rounds: 9, time: 250, batch: 512 }
/** Only to see that it runs: nothing is warm, and nothing is judged. */
const QUICK: Effort = { rounds: 1, time: 2, batch: 16 }

/** What a server keeps of its first download, at most, in bytes. */
const MOST_KEPT = 500_000
/** What a whole history since 1999 may take. */
const MOST_KEPT_SINCE_1999 = 5_000_000

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, 'no-judge': { type: 'boolean' } },
})
const runtime = 'Bun' in globalThis ? 'Bun' : 'Deno' in globalThis ? 'Deno' : 'Node'
const isJudged = runtime === 'Node' && !values.quick && !values['no-judge']

const [first, ...more] = await downloads()
const [whole, ...others] = await wholeHistories()
const comparisons = [
  ...(await rememberedAnswers()),
  await freshConversion(),
  ...(await coldHistories()),
  ...(await formsSince1999()),
  ...firstLoads(),
  first,
  ...more,
  whole,
  ...others,
]

print(`${runtime} ${process.versions[runtime === 'Node' ? 'node' : runtime.toLowerCase()]}\n`)
print('| what | µs | beside | µs | ratio | goal |')
print('| --- | --- | --- | --- | --- | --- |')
let isGood = true
for (const comparison of comparisons) {
  const { name, reference, goal } = comparison
  const outcome = await compare(comparison, values.quick ? QUICK : EFFORT)
  const verdict = goal === undefined ? '' : judge(outcome.ratio, goal, goal.toFixed(1))
  const [ours, theirs] = [outcome.ours, outcome.reference].map((time) => time.toFixed(2))
  print(
    `| ${name} | ${ours} | ${reference.name} | ${theirs} | ${outcome.ratio.toFixed(2)} | ${verdict} |`,
  )
}
printKept('5Y', first.keptBytes, MOST_KEPT)
printKept('all days since 1999', whole.keptBytes, MOST_KEPT_SINCE_1999)
process.exit(isGood || !isJudged ? 0 : 1)

/** The goal, and whether it is reached where that is judged. */
function judge(figure: number, most: number, goal: string): string {
  if (!isJudged) return goal
  const isReached = figure <= most
  isGood &&= isReached
  return `${goal}: ${isReached ? 'ok' : 'missed'}`
}

function printKept(what: string, bytes: number, most: number): void {
  const verdict = judge(bytes, most, most.toLocaleString('en'))
  print(`| columns of ${what}: ${bytes.toLocaleString('en')} bytes | | | | | ${verdict} |`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
