import { describe, expect, it } from 'vitest'

import { startChild } from './child.ts'
import { RUNTIMES } from './runtimes.ts'
import type { StopSettings } from './stop-program.ts'

const ADAPTERS: Record<string, StopSettings['adapter']> = { Node: 'node', Bun: 'bun', Deno: 'deno' }

describe.concurrent('serve() of every runtime', () => {
  it.each(RUNTIMES)(
    'hides what fails and gives up what does not end, on %s',
    async (...[name, program, ...flags]) => {
      const settings: StopSettings = { adapter: ADAPTERS[name] ?? 'node' }
      const child = startChild({
        program: 'test/system/stop-program.ts',
        settings,
        runtime: program,
        flags,
      })
      const { failure, elapsed } = JSON.parse(await child.firstLine)
      await child.kill()
      expect(failure).toEqual({ status: 500, store: 'no-store', body: '' })
      // It must not wait for ever; how soon a busy machine gets to it is not the matter.
      expect(elapsed).toBeGreaterThan(9_000)
    },
  )
})
