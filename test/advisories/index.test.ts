import { existsSync, readFileSync, readdirSync } from 'node:fs'

import { expect, test } from 'vitest'

import { rowsOf } from '../system/markdown-rows.ts'

const FOLDER = new URL('./', import.meta.url)

const rows = rowsOf(readFileSync(new URL('README.md', FOLDER), 'utf8')).map(
  ([name = '', advisories = '', promise = '', tests = '']) => {
    const links = Array.from(tests.matchAll(/\]\(([^)]+)\)/g), ([, path = '']) => path)
    return { name, advisories, promise, links }
  },
)

test('the table has one row for each of the 24 classes', () => {
  expect(rows).toHaveLength(24)
  expect(new Set(rows.map(({ name }) => name)).size).toBe(24)
})

test.each(rows)('the row has advisories, a promise and tests: $name', (row) => {
  expect(row.advisories).toMatch(/\w{4}/)
  expect(row.promise).toMatch(/\w.*\.$/)
  expect(row.links).not.toEqual([])
  expect(row.links.filter((path) => !existsSync(new URL(path, FOLDER)))).toEqual([])
})

test('the table links every test file of the folder', () => {
  const linked = new Set(rows.flatMap(({ links }) => links))
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts'))
  expect(files.filter((name) => !linked.has(name))).toEqual(['index.test.ts'])
})
