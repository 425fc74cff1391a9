import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { commandsOf, openSession } from './commands.ts'
import type { Session } from './commands.ts'
import { exceptionFor } from './exceptions.ts'
import { followedPages } from './page.ts'
import type { Page } from './page.ts'
import { openSite } from './site.ts'
import type { Site } from './site.ts'

/** The commands of a page that are followed, by the lines of their blocks. */
function followedCommands({ blocks }: Page): { line: number; commands: string[] }[] {
  return blocks
    .filter(({ language }) => language === 'sh')
    .map((block) => {
      const commands = commandsOf(block).filter((command) => !exceptionFor('sh', command))
      return { line: block.line, commands }
    })
    .filter(({ commands }) => commands.length > 0)
}

const PAGES = followedPages()
  .map((page) => ({ page, name: page.name, blocks: followedCommands(page) }))
  .filter(({ blocks }) => blocks.length > 0)

describe.each(PAGES)('$name', ({ page, blocks }) => {
  let site: Site
  let session: Session
  beforeAll(async () => {
    site = await openSite(page)
    session = openSession(site)
  })
  afterAll(async () => {
    await session.close()
    await site.close()
  })

  it.each(blocks)('line $line has commands that do their work', async ({ commands }) => {
    expect(await session.faultOf(commands)).toBeUndefined()
  })
})
