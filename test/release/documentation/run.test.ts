import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { commandsOf, hostsOf, isProgram, openSession, runProgram } from './code.ts'
import { filesOf, followedPages, isFollowed } from './page.ts'
import type { Page } from './page.ts'
import { isFile, openSite } from './site.ts'
import type { Site } from './site.ts'

const PAGES = followedPages()
  .map((page) => ({ ...page, commands: commandsIn(page), programs: programsIn(page) }))
  .filter(({ commands, programs }) => commands.length + programs.length > 0)

function commandsIn({ blocks }: Page) {
  return blocks.flatMap((block) => {
    const all = block.language === 'sh' ? commandsOf(block) : []
    const commands = all.filter((text) => isFollowed({ language: 'sh', text }))
    return commands.length > 0 ? [{ line: block.line, commands }] : []
  })
}

function programsIn({ blocks }: Page) {
  return blocks
    .filter((block) => isProgram(block) && isFollowed(block) && filesOf(block).length === 0)
    .flatMap((block) => hostsOf(block).map((host) => ({ block, host, line: block.line })))
}

it('finds the code of the pages', () => {
  expect(PAGES.flatMap(({ commands }) => commands).length).toBeGreaterThan(20)
  expect(PAGES.flatMap(({ programs }) => programs).length).toBeGreaterThan(100)
})

describe.each(PAGES)('$name', ({ commands, programs, ...page }) => {
  let site: Site
  let session: ReturnType<typeof openSession>
  beforeAll(async () => {
    site = await openSite([page])
    for (const block of page.blocks.filter(isFile)) site.write(block)
    session = openSession(site)
  })
  afterAll(async () => {
    await session.close()
    await site.close()
  })

  it.each(commands)('line $line has commands that succeed', async ({ commands: lines }) => {
    for (const line of lines) await expect(session.run(line), line).resolves.toBeUndefined()
  })

  // Clients request a server that a command of the page has started before.
  const hasClient = programs.some(({ block }) => block.text.includes('127.0.0.1:8787'))
  it.runIf(hasClient)('has a server for its clients', async () => {
    await expect(session.run('npx ratesmith serve --demo')).resolves.toBeUndefined()
  })

  it.each(programs)('line $line runs on $host', async ({ block, host }) => {
    await expect(runProgram(block, host, site)).resolves.toBeUndefined()
  })
})
