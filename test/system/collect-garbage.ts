/** Collects all garbage, if this process runs with `--expose-gc`. */
export function collectGarbage(): void {
  // Some objects become garbage only after a first collection.
  for (let round = 0; round < 3; round += 1) globalThis.gc?.()
}
