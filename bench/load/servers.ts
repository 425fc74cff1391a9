import { request } from 'undici'

import { startChild } from '../../test/system/child.ts'
import type { Child } from '../../test/system/child.ts'
import type { LoadLine, LoadSettings } from './load-program.ts'
import type { ServerReport, ServerSettings } from './server-program.ts'

export interface StartedServer extends Child {
  url: string
  report(): Promise<ServerReport>
}

/** Starts `server-program.ts` and resolves when it listens. The caller must kill it. */
export async function startServer(
  settings: ServerSettings,
  flags: readonly string[] = [],
): Promise<StartedServer> {
  const child = startChild({ program: 'bench/load/server-program.ts', settings, flags })
  const { url }: { url: string } = JSON.parse(await child.firstLine)
  return {
    ...child,
    url,
    async report() {
      const { body } = await request(`${url}/report`)
      const report: ServerReport = JSON.parse(await body.text())
      return report
    },
  }
}

/** Starts `load-program.ts`. The caller must kill it. */
export function startLoad(settings: LoadSettings, onLine: (line: LoadLine) => void): Child {
  return startChild({
    program: 'bench/load/load-program.ts',
    settings,
    onLine: (line) => onLine(JSON.parse(line)),
  })
}
