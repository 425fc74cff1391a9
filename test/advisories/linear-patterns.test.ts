import { readFileSync, readdirSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { findGrowth } from './growth.ts'

const ROOT = new URL('../../', import.meta.url)

/** Patterns for a base URL, which only the app's author sets. */
const CHOSEN_BY_THE_APP = /\/(base|root)-url\.ts$/

/** A regular expression literal after a token that cannot end a value; may contain slashes in brackets. */
const LITERAL =
  /(?<=(?:[=(,:?[!&|;{}]|=>|return|\n)\s*)\/(?![/*])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[.,;)\]\s])/g

const STARTS = ['', '/', '"', '<a', '<a b="', '<?xml ', 'http://', '1', '1e', 'a;q=', '-----BEGIN ']

/** All regular expression literals in the sources. */
const patterns = ['src', 'adapters', 'explorer'].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('generated'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => !CHOSEN_BY_THE_APP.test(path))
    .flatMap((path) => {
      const text = readFileSync(new URL(path, ROOT), 'utf8')
      const withoutComments = text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
      return Array.from(withoutComments.matchAll(LITERAL), ([, source = '', flags = '']) => ({
        path,
        pattern: new RegExp(source, flags.replace('g', '')),
      }))
    }),
)

describe('every pattern in the sources', { timeout: 120_000 }, () => {
  test('is found', () => {
    expect(patterns.length).toBeGreaterThan(60)
    expect(patterns.map(({ pattern }) => String(pattern))).toContain('/(W\\/)?("[^"]*")/')
  })

  test.each(patterns)(
    'takes time in proportion to a text: $pattern in $path',
    async ({ pattern }) => {
      const everywhere = new RegExp(pattern, `${pattern.flags}g`)
      const found = await findGrowth((text) => () => text.replace(everywhere, ''), STARTS)
      expect(found).toBeUndefined()
    },
  )
})
