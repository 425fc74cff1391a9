import { startChild } from '../../test/system/child.ts'
import type { LoadResult, LoadSettings } from './load.ts'

/** Runs autocannon in a separate process. */
export async function runAutocannon(settings: LoadSettings): Promise<LoadResult> {
  const child = startChild({ program: 'bench/wire/autocannon-program.ts', settings })
  try {
    const result: LoadResult = JSON.parse(await child.firstLine)
    return result
  } finally {
    await child.kill()
  }
}
