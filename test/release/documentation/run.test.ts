import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { commandsOf, faultOfProgram, hostsOf, isProgram, openSession } from './code.ts'
import { filesOf, followedPages, isFollowed } from './page.ts'
import type { Page } from './page.ts'
import { isFile, openSite } from './site.ts'
import type { Site } from './site.ts'

const PAGES = followedPages()
  .map((page) => ({
    page,
    name: page.name,
    commands: commandsIn(page),
    programs: programsIn(page),
  }))
  .filter(({ commands, programs }) => commands.length + programs.length > 0)

function commandsIn({ blocks }: Page): { line: number; commands: string[] }[] {
  const shells = blocks.filter(({ language }) => language === 'sh')
  return shells
    .map((block) => {
      const all = commandsOf(block)
      const commands = all.filter((text) => isFollowed({ language: 'sh', text }))
      return { line: block.line, commands }
    })
    .filter(({ commands }) => commands.length > 0)
}

function programsIn({ blocks }: Page) {
  const programs = blocks.filter(
    (block) => isProgram(block) && isFollowed(block) && filesOf(block).length === 0,
  )
  return programs.flatMap((block) =>
    hostsOf(block).map((host) => ({ block, host, line: block.line })),
  )
}

it('finds the code of the pages', () => {
  expect(PAGES.flatMap(({ commands }) => commands).length).toBeGreaterThan(20)
  expect(PAGES.flatMap(({ programs }) => programs).length).toBeGreaterThan(100)
})

describe.each(PAGES)('$name', ({ page, commands, programs }) => {
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
    expect(await session.faultOf(lines)).toBeUndefined()
  })

  // Clients request a server that a command of the page has started before.
  it('has a server for its clients', async () => {
    const hasClient = programs.some(({ block }) => block.text.includes('127.0.0.1:8787'))
    const command = 'npx ratesmith serve --demo'
    expect(hasClient ? await session.faultOf([command]) : undefined).toBeUndefined()
  })

  it.each(programs)('line $line runs on $host', async ({ block, host }) => {
    expect(await faultOfProgram(block, host, site)).toBeUndefined()
  })
})
