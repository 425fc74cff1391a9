/**
 * Asks two work trees the same questions, and prints how the answers differ: `npm run golden -- COMMIT`.
 *
 *   COMMIT       a commit, or a folder with another tree, to compare today's tree with (default HEAD)
 *   --all        prints every difference (default the first 3 of each kind)
 *   --only RE    asks only scenes and doors with matching names, such as 'keys' or 'pairs, answer'
 *   --tree DIR   a folder with the tree to ask as today's (default this one)
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

const inGroups = (count: number): string => count.toLocaleString('en')
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
    ...globSync('{test/golden,test/fixtures/**,src/testing}/*.{ts,txt}', { cwd: ROOT }).toSorted(),
    'test/catalogue/bad-inputs.json',
    'package-lock.json',
  ]
  const hash = createHash('sha256').update(`${process.version} ${missingRuntimes().join()}`)
  for (const file of files) hash.update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, 12)
}

/** Asks the tree in a folder, and writes the answers to a file. */
async function record(tree: string, file: string, only = ''): Promise<void> {
  const unfinished = `${file}.${process.pid}`
  const args = [join(ROOT, 'test/golden/record-program.ts'), tree, unfinished, only]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject).on('exit', resolve)
  })
  if (code !== 0) throw new Error(`the recorder ended with ${String(code)}`)
  renameSync(unfinished, file)
}

/** Asks the tree of a commit, whose files it writes to a temporary folder without touching the index or this tree. */
async function recordCommit(commit: string, file: string, only?: string): Promise<void> {
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

/** Returns the answers of a commit, kept from an earlier run if there was one, or of the tree in a folder. */
async function answersBefore(before: string, only: string | undefined): Promise<Recorded[]> {
  const temporary = join(CACHE, `${process.pid}-before`)
  if (existsSync(join(before, 'package.json'))) {
    await record(before, temporary, only)
    return take(temporary)
  }
  const commit = git(['rev-parse', '--verify', `${before}^{commit}`])
  const kept = join(CACHE, `${commit}-${version()}.jsonl.gz`)
  if (existsSync(kept)) {
    const scenes = new RegExp(only ?? '')
    return read(kept).filter(({ id }) => scenes.test(id.split(': ', 1)[0] ?? ''))
  }
  if (only !== undefined) {
    await recordCommit(commit, temporary, only)
    return take(temporary)
  }
  for (const file of globSync('*-*.jsonl.gz', { cwd: CACHE })) {
    if (!file.includes(version())) rmSync(join(CACHE, file))
  }
  await recordCommit(commit, kept)
  return read(kept)
}

async function answersOf(tree: string, only: string | undefined): Promise<Recorded[]> {
  const temporary = join(CACHE, `${process.pid}-today`)
  await record(tree, temporary, only)
  return take(temporary)
}

function take(file: string): Recorded[] {
  const recorded = read(file)
  rmSync(file)
  return recorded
}

function read(file: string): Recorded[] {
  const lines = gunzipSync(readFileSync(file)).toString().split('\n')
  return lines.filter((line) => line !== '').map((line): Recorded => JSON.parse(line))
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
  const [before = 'HEAD'] = positionals
  const startedAt = performance.now()
  mkdirSync(CACHE, { recursive: true })
  const [old, today] = await Promise.all([answersBefore(before, only), answersOf(tree, only)])
  const { kinds, count } = compare(old, today)
  for (const kind of kinds) printKind(kind, all)
  const missing = missingRuntimes().join(' and ')
  if (missing !== '') print(`\nNot asked: ${missing}, which \`npm run tools\` installs.`)
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  print(
    `\n${inGroups(today.length)} questions, ${inGroups(count)} answers differ from ${before}, ${seconds} s`,
  )
  return count > 0 ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
