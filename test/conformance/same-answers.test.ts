import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConformanceHandler } from './market.ts'
import { HOSTS, isInstalled, startHost } from './hosts.ts'
import type { RunningHost } from './hosts.ts'
import { findFault } from './judge.ts'
import { conformanceQuestions } from './questions.ts'

describe.each(HOSTS)('$name', (host) => {
  let running: RunningHost

  beforeAll(async () => {
    if (isInstalled(host)) running = await startHost(host)
  })
  afterAll(() => running?.stop())

  it('answers every question as the handler does, to the byte', async ({ skip }) => {
    if (!isInstalled(host)) skip(`not installed: ${host.runtime}`)
    const { prefix = '' } = host
    const handler = createConformanceHandler(`${prefix}/api`)
    await handler.refresh()
    const faults: string[] = []
    for (const question of await conformanceQuestions(handler, prefix)) {
      const outcome = await running.client.ask(question).catch((error: Error) => error)
      const fault = await findFault(host, handler, question, outcome)
      if (fault !== undefined) faults.push(fault)
    }
    expect(faults).toEqual([])
  })
})
