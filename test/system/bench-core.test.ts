import { describe, expect, it } from 'vitest'

import { rowsOf } from './markdown-rows.ts'
import { run } from './processes.ts'
import { RUNTIMES } from './runtimes.ts'

/** The rows that have a goal, and what it is; the others are only shown. */
const GOALS = [
  ['latest, remembered: `handler(request)`', '1.3'],
  ['latest, remembered: `handler.answer()`', ''],
  ['latest, remembered in brotli: `answer()` of the standalone server', ''],
  ['history 5Y, remembered: `handler(request)`', ''],
  ['history 5Y, remembered: `handler.answer()`', ''],
  ['conversion, computed: `handler.answer()`', '0.6'],
  ['history 5Y of pairs without EUR, computed: `handler.answer()`', '1.0'],
  ['history 5Y of pairs with EUR, computed: `handler.answer()`', '1.0'],
  ['text of 5Y, read into columns', '2.0'],
  ['the same, and the body before it', ''],
  ['CSV since 1999, read into columns', '3.0'],
  ['the same, and its archive before it', ''],
  ['a pair without EUR since 1999, out of columns', ''],
]

/** What is kept, and what it may take. */
const KEPT = [
  ['5Y', /\d{3},\d{3}/, '500,000'],
  ['all days since 1999', /\d,\d{3},\d{3}/, '5,000,000'],
] as const

describe('the measurement of answers in process', () => {
  it.each(RUNTIMES)('runs on %s, and judges nothing in a quick run', async (...runtime) => {
    const [name, program, ...parameters] = runtime
    const { code, stdout, stderr } = await run(program, [...parameters, 'bench/core.ts', '--quick'])
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\n`))
    const rows = rowsOf(stdout)
    const [comparisons, kept] = [rows.slice(0, -KEPT.length), rows.slice(-KEPT.length)]
    expect(comparisons.map(([what, , , , , goal]) => [what, goal])).toEqual(GOALS)
    for (const [what, ours, reference, theirs, ratio] of comparisons) {
      expect(reference, what).toMatch(/^`(new Response|JSON\.parse)` of [\d,]+|^`JSON\.stringify`/)
      for (const figure of [ours, theirs, ratio]) expect(Number(figure), what).toBeGreaterThan(0)
    }
    expect(kept).toEqual(
      KEPT.map(([what, bytes, most]) => [
        expect.stringMatching(new RegExp(`^columns of ${what}: ${bytes.source} bytes$`)),
        '',
        '',
        '',
        '',
        most,
      ]),
    )
  })
})
