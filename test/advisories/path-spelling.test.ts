import { describe, expect, test } from 'vitest'

import { ENDPOINTS } from './endpoints.ts'
import { fetchFrom, get, loadedHandler } from './loaded-handler.ts'

const BASE_PATHS = ['/api', '/fx/api', '', '/%C3%A4']

const ENDINGS =
  '/ // /. /.. /x/.. . %2F %2f %5C \\ ; ;x=1 %20 + %00 %0d%0a %23 %3F # x .json ~ * /* //evil.example'.split(
    ' ',
  )

describe.each(BASE_PATHS)('below %j', async (basePath) => {
  const handler = await loadedHandler({ basePath })

  test.each(ENDPOINTS)('exactly one spelling of $path is found', async ({ path, target }) => {
    const right = basePath + path.slice('/api'.length)
    const query = target.slice(path.length)
    let found = 0
    for (const spelling of spellingsOf(right)) {
      const sent = spelling + query
      const response = await fetchFrom(handler, sent)
      // `URL` normalizes some spellings before the handler sees them.
      const { pathname, search } = new URL(`http://localhost${sent}`)
      const isRight = pathname === right
      expect(response.status, spelling).toBe(
        isRight && search === query ? 200 : isRight ? 400 : 404,
      )
      expect(await get(handler, sent), spelling).toEqual(response)
      found += pathname === right ? 1 : 0
    }
    expect(found).toBeGreaterThan(0)
  })
})

function spellingsOf(path: string): string[] {
  const spellings = [
    path,
    ...ENDINGS.map((ending) => path + ending),
    `/.${path}`,
    `/x/..${path}`,
    `//evil.example${path}`,
  ]
  for (const [at, character] of path.split('').entries()) {
    const [before, behind] = [path.slice(0, at), path.slice(at + 1)]
    const code = character.charCodeAt(0).toString(16)
    for (const other of [
      '',
      character + character,
      character.toUpperCase(),
      `%${code}`,
      `%${code.toUpperCase()}`,
      `%25${code}`,
      `%00${character}`,
      character === '/' ? '\\' : `${character}%`,
      character === '/' ? '/./' : `${character}/`,
    ]) {
      spellings.push(before + other + behind)
    }
  }
  return [...new Set(spellings)].filter((spelling) => spelling.startsWith('/'))
}
