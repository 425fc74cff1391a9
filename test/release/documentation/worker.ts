import { join } from 'node:path'

import { bundleWorker, openWorkers } from '../../system/workerd.ts'
import type { Block } from './page.ts'
import type { Site } from './site.ts'
import { answerAsUpstream } from './upstreams.ts'

/** Runs a block in workerd, which ends with the test; resolves with what went wrong, or with nothing. */
export async function faultOfWorker(block: Block, site: Site): Promise<string | undefined> {
  const script = await bundleWorker(join(site.folder, site.write(block)))
  const simulator = openWorkers({
    script,
    outboundService: ({ url }) => answerAsUpstream(new URL(url)),
  })
  const worker = await simulator.getWorker('one')
  const response = await worker.fetch('http://localhost/api/v1/latest')
  const text = await response.text()
  return response.ok ? undefined : `answers ${response.status} ${text}`
}
