/** Collects all that can be collected, where this process runs with `--expose-gc`. */
export function collectGarbage(): void {
  // Some objects go only after what a first collection has found.
  for (let round = 0; round < 3; round += 1) globalThis.gc?.()
}
