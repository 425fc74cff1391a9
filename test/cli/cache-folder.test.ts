import { describe, expect, it } from 'vitest'

import { cacheFolder } from '../../src/cli/cache-folder.ts'

describe('cacheFolder', () => {
  it.each([
    [{}, 'linux', '/home/ada', '/home/ada/.cache/ratesmith'],
    [{}, 'darwin', '/Users/ada', '/Users/ada/Library/Caches/ratesmith'],
    [{ XDG_CACHE_HOME: '/c' }, 'linux', '/home/ada', '/c/ratesmith'],
    [{ XDG_CACHE_HOME: 'c' }, 'linux', '/home/ada', '/home/ada/.cache/ratesmith'],
    [{ XDG_CACHE_HOME: '/c', RATESMITH_CACHE_DIR: 'own' }, 'linux', '/home/ada', 'own'],
    [{ RATESMITH_CACHE_DIR: '' }, 'linux', '/home/ada', '/home/ada/.cache/ratesmith'],
    [{}, 'linux', '', undefined],
    [{}, 'win32', 'C:\\ada', undefined],
  ])('with %j on %s in %j is %j', (env, platform, home, folder) => {
    expect(cacheFolder({ env, platform, home })).toBe(folder)
  })

  it('is with the local data of applications on Windows', () => {
    const env = { LOCALAPPDATA: 'C:\\Users\\ada\\AppData\\Local' }
    const folder = cacheFolder({ env, platform: 'win32', home: 'C:\\Users\\ada' })
    expect(folder?.split(/[/\\]/).slice(-3)).toEqual(['Local', 'ratesmith', 'Cache'])
  })
})
