import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished } from 'vitest'

import { ROOT } from '../system/runtimes.ts'

/** Scenes that are asked in a second or two. */
const ONLY = '^(every currency|rules|keys|compat frankfurter|rows, node)'

/** Makes a copy of this tree in which the first of some texts of files are others. */
function plant(changes: readonly (readonly [file: string, from: string, to: string])[]): string {
  const tree = mkdtempSync(join(tmpdir(), 'golden-test-'))
  onTestFinished(() => rmSync(tree, { recursive: true }))
  for (const part of ['src', 'adapters', 'package.json']) {
    cpSync(join(ROOT, part), join(tree, part), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  for (const [file, from, to] of changes) {
    const text = readFileSync(join(tree, file), 'utf8')
    expect(text, file).toContain(from)
    writeFileSync(join(tree, file), text.replace(from, to))
  }
  return tree
}

function compareWith(tree: string) {
  const args = ['test/golden/main.ts', tree, '--only', ONLY]
  const options = { cwd: ROOT, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
  const kinds = [...stdout.matchAll(/^[\d,]+ × (.*)$/gm)].map(([, kind]) => kind)
  return { status, stderr, kinds: kinds.join('\n'), stdout }
}

it('finds no difference between two runs of one tree', () => {
  const { stdout, ...result } = compareWith(ROOT)
  expect(result).toEqual({ status: 0, stderr: '', kinds: '' })
  expect(stdout).toMatch(/^\d{3,} questions, 0 answers differ from /m)
})

it('finds a changed digit, header and status, with an example of each', () => {
  const tree = plant([
    ['src/rates/currency-code.ts', '15.6466,', '15.6467,'],
    ['src/http/response.ts', "'last-modified'", "'x-modified'"],
    ['src/errors.ts', 'no_data: 404', 'no_data: 410'],
  ])
  const { stdout, ...result } = compareWith(tree)
  expect(result).toMatchObject({ status: 1, stderr: '' })
  const kinds = [
    'body currencies[].withdrawn.ratio changed',
    'header last-modified added',
    'header x-modified gone',
    'status 410 → 404',
  ]
  expect(new Set(result.kinds.split('\n'))).toEqual(new Set(kinds))
  const place = String.raw`body currencies\[\d+\]\.withdrawn\.ratio`
  expect(stdout).toMatch(
    new RegExp(`GET /api/v1/currencies .*\n {4}- ${place}: 15.6467\n {4}\\+ ${place}: 15.6466\n`),
  )
  expect(stdout).toMatch(/every currency, answer: GET .*\n {4}- .*undefined\n {4}\+ .* GMT\n/)
  expect(stdout).toMatch(/ {2}rules, answer: GET .*\n {4}- 410 .*\n {4}\+ 404 /)
})
