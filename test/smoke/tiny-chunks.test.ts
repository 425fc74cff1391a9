import { expect, it, onTestFinished } from 'vitest'

import { startChild } from '../system/child.ts'
import type { TinyChunks } from './tiny-chunks-program.ts'

// An object for each of a million chunks would take over 64 MB.
const SMALL_HEAP = '--max-old-space-size=32'

it.each<TinyChunks>(['upload', 'upstream'])(
  'an %s of 1 MiB in chunks of one byte fits into a heap of 32 MB',
  async (settings) => {
    const program = 'test/smoke/tiny-chunks-program.ts'
    const child = startChild({ program, settings, flags: [SMALL_HEAP] })
    onTestFinished(child.kill)
    expect(JSON.parse(await child.firstLine)).toBe(200)
  },
)
