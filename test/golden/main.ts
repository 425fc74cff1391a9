/**
 * Asks two work trees the same questions, and prints how the answers differ: `npm run golden -- COMMIT`.
 *
 *   COMMIT       a commit, or a folder with another tree, to compare this tree with (default HEAD)
 *   --all        prints every difference (default the first 3 of each kind)
 *   --only RE    asks only scenes and doors with matching names, such as 'keys' or 'pairs, answer'
 *
 * Exits with 1 if there are differences.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { compare } from './compare.ts'
import type { Kind, Recorded } from './compare.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SHOWN = 3
const MAX_LINE = 300

const inGroups = (count: number): string => count.toLocaleString('en')
const print = (line: string): void => void process.stdout.write(`${line}\n`)

function git(args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const options = { cwd: ROOT, encoding: 'utf8', env: { ...process.env, ...env } } as const
  const { status, stderr } = spawnSync('git', args, options)
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.trim()}`)
}

/** Writes the files of a commit to a folder without touching the index or this tree. */
function checkOut(commit: string, folder: string): string {
  const tree = join(folder, 'tree')
  const env = { GIT_INDEX_FILE: join(folder, 'index') }
  git(['read-tree', commit], env)
  git(['checkout-index', '--all', `--prefix=${tree}/`], env)
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  return tree
}

/** Asks the tree in a folder, and returns the answers. */
async function record(tree: string, file: string, only: string): Promise<Recorded[]> {
  const args = [join(ROOT, 'test/golden/record-program.ts'), tree, file, only]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject).on('exit', resolve)
  })
  if (code !== 0) throw new Error(`the recorder ended with ${String(code)}`)
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter(Boolean).map((line): Recorded => JSON.parse(line))
}

function printKind({ kind, found }: Kind, isWhole: boolean): void {
  const cut = (text: string): string => {
    const line = text.replaceAll('\n', String.raw`\n`)
    return isWhole || line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE)}…`
  }
  print(`\n${inGroups(found.length)} × ${kind}`)
  for (const { id, before, after } of isWhole ? found : found.slice(0, SHOWN)) {
    print(`  ${cut(id)}\n    - ${cut(before)}\n    + ${cut(after)}`)
  }
  if (!isWhole && found.length > SHOWN) print(`  … and ${inGroups(found.length - SHOWN)} more`)
}

async function main(folder: string): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { all: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
  })
  const [before = 'HEAD'] = positionals
  const isTree = existsSync(join(before, 'package.json'))
  const tree = isTree ? before : checkOut(before, folder)
  const [old, today] = await Promise.all([
    record(tree, join(folder, 'before'), values.only),
    record(ROOT, join(folder, 'today'), values.only),
  ])
  const { kinds, count } = compare(old, today)
  for (const kind of kinds) printKind(kind, values.all)
  print(`\n${inGroups(today.length)} questions, ${inGroups(count)} answers differ from ${before}`)
  return count > 0 ? 1 : 0
}

const folder = mkdtempSync(join(tmpdir(), 'golden-'))
try {
  process.exitCode = await main(folder)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
} finally {
  rmSync(folder, { recursive: true })
}
