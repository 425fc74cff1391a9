import { existsSync, readFileSync, readdirSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { rowsOf } from '../system/markdown-rows.ts'

const FOLDER = new URL('./', import.meta.url)

const readme = readFileSync(new URL('README.md', FOLDER), 'utf8')

/** A row of the table, and the files that its last cell links, each with the titles behind it. */
interface Row {
  name: string
  advisories: string
  promise: string
  files: { path: string; titles: string[] }[]
}

function readRows(markdown: string): Row[] {
  return rowsOf(markdown).map(([name = '', advisories = '', promise = '', tests = '']) => {
    const files = [...tests.matchAll(/\[[^\]]+\]\(([^)]+)\)([^[]*)/g)].map(
      ([, path = '', behind = '']) => ({
        path,
        titles: [...behind.matchAll(/“([^”]+)”/g)].map(([, title = '']) => title),
      }),
    )
    return { name, advisories, promise, files }
  })
}

/** What is wrong about where a row points to. */
function faultsOf({ files }: Row): string[] {
  return files.flatMap(({ path, titles }) => {
    const url = new URL(path, FOLDER)
    if (!existsSync(url)) return [`there is no ${path}`]
    const text = readFileSync(url, 'utf8')
    // As a text, or as the name of a property.
    const isThere = (title: string): boolean =>
      [`'${title}'`, `"${title}"`, `\`${title}\``].some((literal) => text.includes(literal))
    return titles.filter((title) => !isThere(title)).map((title) => `${path} has no “${title}”`)
  })
}

describe('the table of classes', () => {
  const rows = readRows(readme)

  test('has a row for each of the twenty classes, once', () => {
    expect(rows).toHaveLength(20)
    expect(new Set(rows.map(({ name }) => name)).size).toBe(20)
  })

  test.each(rows)(
    'names advisories, a promise and tests of: $name',
    ({ advisories, promise, files }) => {
      expect(advisories).toMatch(/\w{4}/)
      expect(promise).toMatch(/\w.*\.$/)
      expect(files).not.toEqual([])
    },
  )

  test.each(rows)('names tests that there are, of: $name', (row) => {
    expect(faultsOf(row)).toEqual([])
  })

  test('has every file of its folder', () => {
    const linked = new Set(rows.flatMap(({ files }) => files.map(({ path }) => path)))
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts'))
    expect(files.filter((name) => !linked.has(name))).toEqual(['index.test.ts'])
  })
})

test.each([
  ['a file', '[a](nowhere.test.ts)'],
  ['a title', '[a](growth.ts) “a title”'],
])('%s that there is not is found', (_, cell) => {
  const [row] = readRows(`| Class |\n| --- |\n| a | b | c. | ${cell} |`)
  expect(row && faultsOf(row)).toHaveLength(1)
})
