import { describe, expect, test } from 'vitest'

import { toExpressHandler } from '../../adapters/express.ts'
import { ENDPOINTS } from './endpoints.ts'
import { fetchFrom, get, loadedHandler } from './loaded-handler.ts'

const BASE_PATHS = ['/api', '/fx/api', '', '/%C3%A4']

/** What is put behind a path. */
const ENDINGS =
  '/ // /. /.. /x/.. . %2F %2f %5C \\ ; ;x=1 %20 + %00 %0d%0a %23 %3F # x .json ~ * /*'.split(' ')

describe.each(BASE_PATHS)('below %j', async (basePath) => {
  const handler = await loadedHandler({ basePath })

  test.each(ENDPOINTS)('exactly one spelling of $path is answered', async ({ path, target }) => {
    const right = basePath + path.slice('/api'.length)
    const query = target.slice(path.length)
    let answered = 0
    for (const spelling of spellingsOf(right)) {
      const asked = spelling + query
      const reply = await fetchFrom(handler, asked)
      // What a URL has is the path; some ways of writing it are gone before anybody sees them.
      const { pathname, search } = new URL(`http://localhost${asked}`)
      const isRight = pathname === right
      expect(reply.status, spelling).toBe(isRight && search === query ? 200 : isRight ? 400 : 404)
      expect(await get(handler, asked), spelling).toEqual(reply)
      answered += pathname === right ? 1 : 0
    }
    expect(answered).toBeGreaterThan(0)
  })
})

describe('mounted below a prefix that the app takes away', () => {
  test.each(['/FX', '/%66x', '/fx/', '//fx', '/fx%2F', '/fxx', '/', ''])(
    'a request is the app’s where the prefix is written %j',
    async (prefix) => {
      const handler = await loadedHandler({ basePath: '/fx/api' })
      const outcome = (given: string): Promise<string> =>
        new Promise((resolve) => {
          const request = { method: 'GET', url: '/api/v1/latest', originalUrl: given, headers: {} }
          const writeHead = (status: number): void => resolve(`answered with ${status}`)
          const response = { writeHead, end() {}, once() {}, destroy() {} }
          toExpressHandler(handler)(request, response, () => resolve('passed on'))
        })
      expect(await outcome(`${prefix}/api/v1/latest`)).toBe('passed on')
      expect(await outcome('/fx/api/v1/latest')).toBe('answered with 200')
    },
  )
})

/** `path`, and how else it might be written. */
function spellingsOf(path: string): string[] {
  const spellings = [path, ...ENDINGS.map((ending) => path + ending), `/.${path}`, `/x/..${path}`]
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
