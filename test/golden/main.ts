/**
 * Asks two work trees the same questions, and prints how the answers differ: `npm run golden -- COMMIT`.
 *
 *   COMMIT       commit to compare today's tree with (default HEAD)
 *   --all        prints every difference (default the first 3 of each kind)
 *   --only RE    asks only scenes and doors with matching names, such as 'keys' or 'pairs, answer'
 *   --tree DIR   folder of the tree to ask as today's (default this one)
 *
 * Exits with 1 if there are differences. Answers of a commit are kept in `node_modules/.cache/golden`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'

import { compare } from './compare.ts'
import type { Kind, Recorded } from './compare.ts'
import { missingRuntimes } from './doors.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/golden')
const SHOWN = 3
const MAX_LINE = 300

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function git(args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.trim()}`)
  return stdout.trim()
}

/** Everything that the answers of a commit depend on besides the commit. */
function version(): string {
  const files = [
    ...globSync('test/golden/*.{ts,txt}', { cwd: ROOT }).toSorted(),
    'test/catalogue/bad-inputs.json',
    'package-lock.json',
  ]
  const hash = createHash('sha256').update(`${process.version} ${missingRuntimes().join()}`)
  for (const file of files) hash.update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, 12)
}

/** Runs the recorder on a tree, and returns the file with the answers. */
async function record(tree: string, file: string, only = ''): Promise<void> {
  const unfinished = `${file}.${process.pid}`
  const child = spawn(
    process.execPath,
    [join(ROOT, 'test/golden/record.ts'), tree, unfinished, only],
    { stdio: 'inherit' },
  )
  const code = await new Promise(
    (resolve, reject) => void child.on('error', reject).on('exit', resolve),
  )
  if (code !== 0) throw new Error(`the recorder ended with ${String(code)}`)
  renameSync(unfinished, file)
}

/** Writes the files of a commit to a temporary folder, without touching the index or the work tree, and records its answers. */
async function recordCommit(commit: string, file: string, only: string | undefined): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'golden-'))
  try {
    const env = { GIT_INDEX_FILE: join(folder, 'index') }
    git(['read-tree', commit], env)
    git(['checkout-index', '--all', `--prefix=${join(folder, 'tree')}/`], env)
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'tree/node_modules'))
    await record(join(folder, 'tree'), file, only)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function read(file: string): Recorded[] {
  const lines = gunzipSync(readFileSync(file)).toString().split('\n')
  return lines.filter((line) => line !== '').map((line): Recorded => JSON.parse(line))
}

function printKind({ kind, found }: Kind, isWhole: boolean): void {
  const cut = (text: string): string =>
    isWhole || text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE)}…`
  print(`\n${found.length.toLocaleString('en')} × ${kind}`)
  for (const { id, before, after } of isWhole ? found : found.slice(0, SHOWN)) {
    print(`  ${cut(id)}\n    - ${cut(before)}\n    + ${cut(after)}`)
  }
  if (!isWhole && found.length > SHOWN)
    print(`  … and ${(found.length - SHOWN).toLocaleString('en')} more`)
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      only: { type: 'string' },
      tree: { type: 'string', default: ROOT },
    },
  })
  const { all, only, tree } = values
  const commit = git(['rev-parse', '--verify', `${positionals[0] ?? 'HEAD'}^{commit}`])
  mkdirSync(CACHE, { recursive: true })
  const startedAt = performance.now()
  const before = join(
    CACHE,
    only === undefined ? `${commit}-${version()}.jsonl.gz` : `only-${process.pid}-before.jsonl.gz`,
  )
  const after = join(
    CACHE,
    only === undefined ? 'today.jsonl.gz' : `only-${process.pid}-after.jsonl.gz`,
  )
  const isKnown = existsSync(before)
  await Promise.all([
    isKnown ? undefined : recordCommit(commit, before, only),
    record(tree, after, only),
  ])
  const [old, today] = [read(before), read(after)]
  if (only !== undefined) for (const file of [before, after]) rmSync(file)
  const { kinds, count } = compare(old, today)
  for (const kind of kinds) printKind(kind, all)
  const missing = missingRuntimes()
  if (missing.length > 0) print(`\nNot asked: ${missing.join(' and ')}, see \`npm run tools\`.`)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
  print(
    `\n${today.length.toLocaleString('en')} questions, ${count.toLocaleString('en')} answers differ from ${commit.slice(0, 12)}${isKnown ? ' (kept from an earlier run)' : ''}, ${seconds} s`,
  )
  return count > 0 ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
