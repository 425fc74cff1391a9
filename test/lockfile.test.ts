import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

const { packages } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
)
const locked: [path: string, entry: { integrity?: string }][] = Object.entries(packages)

describe('the lock file', () => {
  const [[, itself] = ['', undefined], ...installed] = locked

  it('has the sum of every package, so that no other bytes are installed', () => {
    expect(itself).not.toHaveProperty('integrity')
    expect(installed.length).toBeGreaterThan(100)
    const bare = installed.filter(([, { integrity = '' }]) => !/^sha512-\S{88}$/.test(integrity))
    expect(bare.map(([path]) => path)).toEqual([])
  })

  it('says nothing of where a package comes from, so that it is the registry, whichever is set up', () => {
    const elsewhere = installed.filter(([, entry]) => 'resolved' in entry || 'link' in entry)
    expect(elsewhere.map(([path]) => path)).toEqual([])
  })
})
