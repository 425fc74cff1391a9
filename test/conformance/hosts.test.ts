import { mountContract } from 'ratesmith/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { HOSTS, isInstalled, startHost } from './hosts.ts'
import type { RunningHost } from './hosts.ts'
import { findFault } from './judge.ts'
import { createConformanceHandler } from './market.ts'
import { conformanceQuestions } from './questions.ts'

describe.each(HOSTS)('$name', (host) => {
  const { prefix = '', runtime, openClient } = host
  let running: RunningHost

  beforeAll(async () => {
    if (isInstalled(host)) running = await startHost(host)
  })
  afterAll(() => running?.stop())
  beforeEach(({ skip }) => {
    if (!isInstalled(host)) skip(`not installed: ${runtime}`)
  })

  // `fetch` speaks HTTP/1.1 alone.
  const cases = openClient
    ? []
    : mountContract(() => ({ url: `http://127.0.0.1:${running.port}${prefix}/api` }))
  it.each(cases)('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  it('answers every question as the handler does, to the byte', async () => {
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
