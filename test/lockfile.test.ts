import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

describe.each(['.', 'scripts/node', 'test/tools'])('the lock file in %s', (folder) => {
  const { packages }: { packages: Record<string, { integrity?: string }> } = JSON.parse(
    readFileSync(new URL(`../${folder}/package-lock.json`, import.meta.url), 'utf8'),
  )
  const { '': root, ...installed } = packages
  const entries = Object.entries(installed)

  it('has the checksum of every package, so that no other bytes are installed', () => {
    expect(root).not.toHaveProperty('integrity')
    expect(entries.length).toBeGreaterThan(1)
    const bare = entries.filter(([, { integrity = '' }]) => !/^sha512-\S{88}$/.test(integrity))
    expect(bare.map(([path]) => path)).toEqual([])
  })

  it('names no address of a package, so that any registry can serve it', () => {
    const elsewhere = entries.filter(([, entry]) => 'resolved' in entry || 'link' in entry)
    expect(elsewhere.map(([path]) => path)).toEqual([])
  })
})
