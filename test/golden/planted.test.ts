import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ROOT } from '../system/runtimes.ts'

/** Scenes that are asked in a second or two. */
const ONLY = '^(every currency|rules|keys|compat frankfurter|rows, node)'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'golden-test-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Makes a copy of this tree in which the first `from` of a file is `to`. */
function plant(name: string, file: string, from: string | RegExp, to: string): string {
  const tree = join(folder, name)
  for (const part of ['src', 'adapters', 'package.json']) {
    cpSync(join(ROOT, part), join(tree, part), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  const text = readFileSync(join(tree, file), 'utf8')
  const changed = text.replace(from, to)
  if (changed === text) throw new Error(`${file} has no ${String(from)} in which to plant a change`)
  writeFileSync(join(tree, file), changed)
  return tree
}

/** Compares this tree with another one: the exit code, the kinds of differences, and all lines. */
function compareWith(tree: string) {
  const args = ['test/golden/main.ts', ROOT, '--tree', tree, '--only', ONLY]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const lines = stdout.split('\n')
  const kinds = lines.flatMap((line) => /^[\d,]+ × (.*)/.exec(line)?.slice(1) ?? [])
  return { status, kinds, lines, stderr }
}

describe('npm run golden', () => {
  it('finds no difference between two runs of one tree', () => {
    const { status, kinds, lines, stderr } = compareWith(ROOT)
    expect(stderr).toBe('')
    expect(kinds).toEqual([])
    expect(lines.at(-2)).toMatch(/^\d{3,} questions, 0 answers differ from /)
    expect(status).toBe(0)
  })

  it('finds one changed digit', () => {
    const tree = plant('digit', 'src/rates/currency-code.ts', '15.6466,', '15.6467,')
    const { status, kinds, lines } = compareWith(tree)
    expect(kinds).toEqual(['body currencies[].withdrawn.ratio: another number'])
    expect(lines.slice(1, 5)).toEqual([
      '1 × body currencies[].withdrawn.ratio: another number',
      expect.stringMatching(/^ {2}keys, answer: .* GET \/api\/v1\/currencies /),
      expect.stringMatching(/^ {4}- currencies\[\d+\]\.withdrawn\.ratio: 15\.6466$/),
      expect.stringMatching(/^ {4}\+ currencies\[\d+\]\.withdrawn\.ratio: 15\.6467$/),
    ])
    expect(status).toBe(1)
  })

  it('finds a header that is gone', () => {
    const tree = plant('header', 'src/http/response.ts', "'last-modified'", "'x-modified'")
    const { status, kinds, lines } = compareWith(tree)
    expect(kinds.toSorted()).toEqual(['header last-modified gone', 'header x-modified added'])
    expect(lines.join('\n')).toMatch(
      / {2}every currency, answer: GET .*\n {4}- last-modified: .* GMT\n/,
    )
    expect(status).toBe(1)
  })

  it('finds another status', () => {
    const tree = plant('status', 'src/errors.ts', /no_data: 404/, 'no_data: 410')
    const { status, kinds, lines } = compareWith(tree)
    expect(kinds).toEqual(['status 404 → 410'])
    expect(lines.join('\n')).toMatch(/ {2}rules, answer: GET .*\n {4}- 404 .*\n {4}\+ 410 /)
    expect(status).toBe(1)
  })
})
