import { statSync } from 'node:fs'

import { createFileKeyStore } from '../access/file.ts'
import type { StoredKey, WritableKeyStore } from '../access/file.ts'
import { createKey } from '../access/index.ts'
import { isDay, isOrigin, toSingleLine } from '../core.ts'
import { didYouMean, nearest } from '../known-options.ts'
import { DAY_MS } from '../rates/dates.ts'
import type { CommandContext } from './context.ts'
import { KEYS_OPTIONS } from './flags.ts'
import { printListing } from './listing.ts'
import { openOutput } from './output.ts'
import type { Output } from './output.ts'
import { toMinute } from './terminal.ts'
import { UsageError, parseArguments, parseName, withUsageError } from './usage.ts'

type Values = ReturnType<typeof parseArguments<{ options: typeof KEYS_OPTIONS }>>['values']

interface Request {
  values: Values
  words: readonly string[]
  store: WritableKeyStore
  output: Output
  now: number
}

interface Action {
  run(request: Request): Promise<void>
  flags: readonly string[]
  /** Words after the action. */
  words: number
}

const ACTIONS = {
  create: { run: create, flags: ['plan', 'name', 'expires', 'origin', 'json'], words: 0 },
  list: { run: list, flags: ['json'], words: 0 },
  revoke: { run: revoke, flags: [], words: 1 },
} satisfies Record<string, Action>

export async function keys(args: string[], context: CommandContext): Promise<number> {
  const config = { args, options: KEYS_OPTIONS, allowPositionals: true }
  const { values, positionals } = parseArguments(config)
  const [first = '', ...words] = positionals
  const name = parseName('the word after keys', first, ['create', 'list', 'revoke'])
  const { run, flags, words: count }: Action = ACTIONS[name]
  const flag = Object.keys(values).find((each) => ![...flags, 'keys'].includes(each))
  if (flag !== undefined) throw new UsageError(`keys ${name} has no flag --${flag}`)
  if (words.length < count) throw new UsageError(`keys ${name} needs the id or the name of a key`)
  const word = words[count]
  if (word !== undefined) throw new UsageError(`keys ${name} has no argument ${word}`)
  if (values.keys === '') throw new UsageError('--keys must be a file, got ""')
  const path = values.keys ?? context.env['RATESMITH_KEYS']
  if (!path) throw new UsageError(`keys ${name} needs --keys with a file, or RATESMITH_KEYS`)
  const origin = values.keys === undefined ? 'RATESMITH_KEYS' : '--keys'
  if (name !== 'create' && !statSync(path, { throwIfNoEntry: false })) {
    const advice = `create a key with: ratesmith keys create --keys ${path}`
    throw new UsageError(`${origin}: ${path} does not exist; ${advice}`)
  }
  const { now } = context
  const store = withUsageError(origin, () => createFileKeyStore(path, { now }))
  const output = openOutput(context)
  await run({ values, words, store, output, now: now() })
  // A group may read it, as in a secret mounted into a container. Windows has no such modes.
  if (context.platform !== 'win32' && (statSync(path).mode & 0o027) !== 0) {
    const advice = `run: chmod 600 ${path}`
    output.note(`ratesmith: other users can read ${path}, which has hashes and names; ${advice}`)
  }
  return 0
}

async function create({ values, store, output, now }: Request): Promise<void> {
  const { plan, name, expires, origin: origins, json } = values
  if (plan === undefined) throw new UsageError('keys create needs --plan')
  if (name === undefined) throw new UsageError('keys create needs --name')
  const wrong = origins?.find((each) => !isOrigin(each))
  if (wrong !== undefined) {
    throw new UsageError(`--origin must be like https://example.com, got ${wrong || '""'}`)
  }
  const expiresAt = expires === undefined ? undefined : readEnd(expires, now)
  const { key, hash } = await createKey()
  const id = hash.slice(0, 12)
  const record: StoredKey = { id, hash, plan, name, createdAt: now, expiresAt, origins }
  await store.add(record).catch((error: Error) => {
    throw error instanceof TypeError ? new UsageError(`--${error.message}`) : error
  })
  if (json) return output.print([JSON.stringify({ key, ...describe(record, now) })])
  output.print([key])
  const end = expiresAt === undefined ? '' : `, expires ${toMinute(expiresAt)}`
  output.note(`ratesmith: key ${id} for ${name} on plan ${plan}${end}`)
  output.note(
    'ratesmith: keep it now, only its hash is stored; send it as Authorization: Bearer <key>',
  )
}

const MAX_DAYS = 36_600

/** Reads `90d`, or a day, whose end in UTC is the end of the key. */
function readEnd(typed: string, now: number): number {
  const [, days] = /^([1-9]\d{0,5})d$/.exec(typed) ?? []
  if (days !== undefined && Number(days) <= MAX_DAYS) return now + Number(days) * DAY_MS
  const end = isDay(typed) ? Date.parse(typed) + DAY_MS : undefined
  if (end === undefined) {
    throw new UsageError(
      `--expires must be a number of days such as 90d, or a day (YYYY-MM-DD), got ${typed || '""'}`,
    )
  }
  if (end <= now) throw new UsageError(`--expires must not be in the past, got ${typed}`)
  return end
}

async function list({ values, store, output, now }: Request): Promise<void> {
  const found = await store.list()
  const head = ['id', 'name', 'plan', 'created', 'state', 'expires', 'origins']
  const rows = found.map((key) => {
    const { id, name, plan, createdAt, expiresAt, origins = [] } = key
    const end = expiresAt === undefined ? '' : toMinute(expiresAt)
    const state = stateOf(key, now)
    return [id, toSingleLine(name), plan, toMinute(createdAt), state, end, origins.join()]
  })
  const record = { keys: found.map((key) => describe(key, now)) }
  printListing(record, [head, ...rows], output, values.json)
}

function stateOf({ revokedAt, expiresAt = Infinity }: StoredKey, now: number): string {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt <= now ? 'expired' : 'active'
}

function describe(key: StoredKey, now: number): object {
  const { id, name, plan, createdAt, expiresAt, revokedAt, origins = null } = key
  const [created, expires, revoked] = [createdAt, expiresAt, revokedAt].map((time) =>
    time === undefined ? null : new Date(time).toISOString(),
  )
  return { id, name, plan, state: stateOf(key, now), created, expires, revoked, origins }
}

async function revoke({ words: [typed = ''], store, output }: Request): Promise<void> {
  const { id, name, revokedAt } = findKey(typed, await store.list())
  await store.revoke(id)
  const isLate = revokedAt !== undefined
  output.print([`${isLate ? 'already revoked' : 'revoked'} ${id} (${toSingleLine(name)})`])
  if (!isLate) output.note('ratesmith: servers refuse it within 10 s')
}

/** Returns the key with this id, or the only active one with this name. */
function findKey(typed: string, all: readonly StoredKey[]): StoredKey {
  const byId = all.find(({ id }) => id === typed)
  if (byId) return byId
  if (typed.startsWith('rsk_')) {
    throw new UsageError(
      'keys revoke needs the id or the name of a key, not the key: see keys list',
    )
  }
  const named = all.filter(({ name, revokedAt }) => name === typed && revokedAt === undefined)
  const [first, second] = named
  if (second) {
    const ids = named.map(({ id }) => id).join(', ')
    throw new UsageError(`${typed} is the name of ${named.length} keys; use an id: ${ids}`)
  }
  if (first) return first
  const known = all.flatMap(({ id, name }) => [id, name])
  throw new UsageError(`unknown key ${typed}${didYouMean([...new Set(nearest(typed, known, 2))])}`)
}
