import { describe, expect, it } from 'vitest'

import { findPhrases } from '../scripts/lint-words.ts'

describe('the check of phrases', () => {
  it.each([
    ['Told of every event.', 'Told'],
    ['returns whatever the store has', 'whatever'],
    ['for how many ms it lasts', 'for how many ms'],
    ['it is no text', 'is no'],
  ])('finds %j', (text, phrase) => {
    expect(findPhrases(`fine\n${text}`)).toMatchObject([{ line: 2, phrase: phrase.trim() }])
  })

  it.each([
    '/**\n * It has no timer of\n * its own.\n */',
    '// It has no timer of\n  // its own.',
    'It has no timer of\nits own.',
  ])('finds one that goes on in the next line: %j', (text) => {
    expect(findPhrases(text)).toMatchObject([{ phrase: 'of its own' }])
  })

  it.each(['a teller', 'it is no longer fresh', 'it is no more than 5 s'])('accepts %j', (text) => {
    expect(findPhrases(text)).toEqual([])
  })
})
