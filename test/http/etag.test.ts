import { describe, expect, it } from 'vitest'

import { entityTag } from '../../src/http/response.ts'

describe('entityTag()', () => {
  it('returns a well-formed tag, equal for equal text', () => {
    for (const body of ['', '{}', 'ä\u0000"\u{1f4b5}', 'x'.repeat(100_000)]) {
      expect(entityTag(body)).toBe(entityTag(body.slice(0)))
      expect(entityTag(body)).toMatch(/^"[a-p]{16}\d+"$/)
    }
  })

  it('differs for 200,000 bodies that differ in a digit', () => {
    const tags = new Set<string>()
    for (let number = 0; number < 200_000; number += 1) {
      tags.add(entityTag(`{"from":"USD","to":"EUR","amount":${number},"rate":0.85367936}`))
    }
    expect(tags.size).toBe(200_000)
  })

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('differs in the last character after %d others', (count) => {
    const bodies = ['}', '{', 'é'].map((last) => 'x'.repeat(count) + last)
    expect(new Set(bodies.map(entityTag)).size).toBe(3)
    const bytes = bodies.map((body) => new TextEncoder().encode(body))
    expect(new Set(bytes.map(entityTag)).size).toBe(3)
  })
})
