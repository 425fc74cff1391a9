import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openSession } from './commands.ts'
import type { Session } from './commands.ts'
import { isFollowed } from './exceptions.ts'
import { followedPages } from './page.ts'
import { faultOfProgram, hostsOf, isProgram } from './programs.ts'
import { openSite } from './site.ts'
import type { Site } from './site.ts'
import { faultOfWorker } from './worker.ts'

const PAGES = followedPages()
  .map((page) => ({ page, name: page.name, programs: page.blocks.filter(isProgram) }))
  .filter(({ programs }) => programs.some(isFollowed))

describe.each(PAGES)('$name', ({ page, programs }) => {
  let site: Site
  let session: Session
  beforeAll(async () => {
    site = await openSite(page)
    session = openSession(site)
    // Those that ask a server have one that was started before.
    const asksServer = programs.some(({ text }) => text.includes('127.0.0.1:8787'))
    const fault = asksServer && (await session.faultOf(['npx ratesmith serve --demo']))
    if (fault) throw new Error(fault)
  })
  afterAll(async () => {
    await session.close()
    await site.close()
  })

  const cases = programs.filter(isFollowed).flatMap((block) => {
    return hostsOf(block).map((host) => ({ block, host, line: block.line }))
  })
  it.each(cases)('line $line does its work on $host', async ({ block, host }) => {
    const isWorker = host === 'workerd'
    const fault = isWorker ? faultOfWorker(block, site) : faultOfProgram(block, host, site)
    expect(await fault).toBeUndefined()
  })
})
