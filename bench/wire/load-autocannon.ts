import { startChild } from '../../test/system/child.ts'
import type { LoadResult, LoadSettings } from './load.ts'

/** Makes load with autocannon, in a process of its own. */
export async function runAutocannon(settings: LoadSettings): Promise<LoadResult> {
  const child = startChild({ program: 'bench/wire/autocannon-program.ts', settings })
  try {
    const result: LoadResult = JSON.parse(await child.firstLine)
    return result
  } finally {
    await child.kill()
  }
}
