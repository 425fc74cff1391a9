import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading)
const released = headings.filter((heading) => heading !== 'Unreleased')

describe('the changelog', () => {
  it('has the version that is published next, with the day of its release', () => {
    expect(released[0]).toMatch(/^\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/)
    expect(released[0]?.split(' ')[0]).toBe(manifest.version)
  })

  it('has what is not released before all that is, and the newest first', () => {
    expect([0, -1]).toContain(headings.indexOf('Unreleased'))
    const days = released.map((heading) => heading.split(' ')[1] ?? '')
    expect(days).toEqual(days.toSorted((one, other) => other.localeCompare(one)))
  })
})
