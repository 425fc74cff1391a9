import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'

/** The reason in the title of a skipped test or suite. */
const REASON = /\((skipped[^)]*)\)/

/**
 * Ends a run with the reasons for skipped tests, and one line of counts. A file or a suite that fails outside its tests counts
 * as a failed test.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    const reasons = new Map<string, number>()
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        counts[state] += 1
        const reason = state === 'skipped' ? reasonOf(test) : undefined
        if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      }
      for (const part of [module, ...module.children.allSuites()]) {
        if (part.errors().length > 0) counts.failed += 1
      }
    }
    for (const [reason, count] of reasons) {
      process.stdout.write(`${count} ${count === 1 ? 'test' : 'tests'} ${reason}\n`)
    }
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`)
  }
}

function reasonOf(part: TestCase | TestSuite): string | undefined {
  const [, reason] = REASON.exec(part.name) ?? []
  if (reason !== undefined) return reason
  return part.parent.type === 'module' ? undefined : reasonOf(part.parent)
}
