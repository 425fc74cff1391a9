import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { faultOfAnswer, refusedPaths } from './answers.ts'
import { commandsOf } from './commands.ts'
import { faultsOfBlocks, faultsOfFrameworks, frameworksOf } from './compiling.ts'
import { EXCEPTIONS, isFollowed } from './exceptions.ts'
import { brokenLinks, linksOf } from './links.ts'
import { followedPages, linkedPages } from './page.ts'
import { openSite } from './site.ts'
import type { Site } from './site.ts'

/** The languages whose blocks are followed. */
const LANGUAGES = ['csv', 'diff', 'js', 'json', 'sh', 'text', 'ts']

const PAGES = followedPages()

const BLOCKS = PAGES.flatMap(({ blocks }) => blocks)

describe('the pages', () => {
  it('have blocks of languages that are followed, but for some', () => {
    const unknown = BLOCKS.filter(isFollowed).filter(
      ({ language }) => !LANGUAGES.includes(language),
    )
    expect(unknown.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([])
  })

  it.each(EXCEPTIONS)('have something of $language that $reason', ({ language, matches }) => {
    const blocks = BLOCKS.filter((block) => block.language === language)
    const texts = language === 'sh' ? blocks.flatMap(commandsOf) : blocks.map(({ text }) => text)
    expect(texts.filter((text) => matches.test(text))).not.toHaveLength(0)
  })

  it('have one table of frameworks', () => {
    expect(PAGES.map((page) => frameworksOf(page).length).filter(Boolean)).toEqual([9])
  })
})

describe.each(linkedPages())('$name', (page) => {
  it('has links that lead somewhere', () => {
    expect(brokenLinks(page)).toEqual([])
  })
})

it('has links to look at', () => {
  expect(linkedPages().flatMap(linksOf).length).toBeGreaterThan(40)
})

describe('the code of the pages', () => {
  let site: Site
  beforeAll(async () => {
    const text = PAGES.map((page) => page.text).join('\n')
    site = await openSite({ name: 'all', text, blocks: [], prose: [] })
  })
  afterAll(() => site.close())

  it('compiles', async () => {
    expect(await faultsOfBlocks(PAGES, site)).toBe('')
  })

  it.each(PAGES.filter((page) => frameworksOf(page).length > 0))(
    'compiles in every framework of the table of $name',
    async (page) => {
      expect(await faultsOfFrameworks(page, site)).toBe('')
    },
  )
})

const shown = BLOCKS.filter(isFollowed)

it.each(shown.filter(({ language }) => language === 'json' || language === 'csv'))(
  '$page:$line is what the synthetic market answers',
  async (block) => {
    expect(await faultOfAnswer(block)).toBeUndefined()
  },
)

it.each(shown.filter(({ language }) => language === 'text' || language === 'diff'))(
  '$page:$line has paths that are answered',
  async (block) => {
    expect(await refusedPaths(block)).toEqual([])
  },
)
