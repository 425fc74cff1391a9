import { mountContract } from 'ratesmith/testing'
import { describe, expect, it } from 'vitest'

import { HOSTS } from './hosts.ts'
import { findFault } from './judge.ts'
import { createConformanceHandler } from './market.ts'
import { conformanceQuestions } from './questions.ts'
import { runHost } from './running-host.ts'

describe.each(HOSTS)('$name', (host) => {
  const { prefix = '', openClient } = host
  const running = runHost(host)

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
    const questions = await conformanceQuestions(handler, prefix)
    expect(questions.length).toBeGreaterThan(900)
    for (const question of questions) {
      const outcome = await running.client.ask(question).catch((error: Error) => error)
      const fault = await findFault(host, handler, question, outcome)
      if (fault !== undefined) faults.push(fault)
    }
    expect(faults).toEqual([])
  })
})
