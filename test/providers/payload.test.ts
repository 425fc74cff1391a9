import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'

import { anotherForm, pathsOf, ratesAsTheyCame } from '../../src/providers/payload.ts'

const schema = z.object({ meta: z.object({ date: z.string() }), rates: ratesAsTheyCame })

function pathsIn(body: unknown): string[] {
  const { error } = schema.safeParse(body)
  return error ? pathsOf(error) : []
}

describe('an answer in another form', () => {
  it('is one without what is looked into, whatever that has', () => {
    const meta = { date: '2026-11-20' }
    expect(pathsIn({ meta, rates: { USD: null } })).toEqual([])
    expect(pathsIn({ meta, rates: null })).toEqual(['rates'])
    expect(pathsIn({ meta, rates: 'none' })).toEqual(['rates'])
    expect(pathsIn({ meta: { date: 7 } })).toEqual(['meta.date', 'rates'])
    expect(pathsIn(7)).toEqual(['all of it'])
  })

  it('says where, at five places at most', () => {
    const paths = ['a', 'b', 'c', 'd', 'e', 'f']
    expect(anotherForm('feed.example', paths)).toMatchObject({
      message: 'feed.example answered in another form: a, b, c, d, e',
    })
  })
})
