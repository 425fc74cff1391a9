import { createKey } from '../access/index.ts'
import type { StoredKey } from '../access/file.ts'
import { didYouMean, nearest } from '../known-options.ts'
import { toSingleLine } from '../log.ts'
import { DAY_MS } from '../rates/dates.ts'
import type { CommandContext } from './context.ts'
import { findKeys, isShared, openKeyStore } from './key-store.ts'
import type { NamedFile } from './key-store.ts'
import { openOutput } from './output.ts'
import type { Output } from './output.ts'
import { toTable } from './terminal.ts'
import { UsageError, parseArguments, text, texts, toggle } from './usage.ts'

export const KEYS_OPTIONS = {
  keys: text('<file>', 'JSON file with the keys (default: RATESMITH_KEYS)'),
  plan: text('<plan>', 'plan of the key, a name from the plans of createAccess'),
  name: text('<name>', 'owner of the key'),
  expires: text('<end>', 'number of days (90d) or last day in UTC (YYYY-MM-DD) (default never)'),
  origin: texts('<origin>', 'origin of web pages that may use the key, repeatable (default all)'),
  json: toggle('print one line of JSON', { short: 'j' }),
}

type Values = ReturnType<typeof parseArguments<{ options: typeof KEYS_OPTIONS }>>['values']

interface Action {
  values: Values
  words: readonly string[]
  file: NamedFile
  output: Output
  context: CommandContext
}

const ACTIONS = {
  create: { run: create, flags: ['plan', 'name', 'expires', 'origin'] },
  list: { run: list, flags: ['json'] },
  revoke: { run: revoke, flags: [] },
} as const satisfies Record<
  string,
  { run: (action: Action) => Promise<void>; flags: readonly (keyof Values)[] }
>

type ActionName = keyof typeof ACTIONS

export async function keys(args: string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseArguments({
    args,
    options: KEYS_OPTIONS,
    allowPositionals: true,
  })
  const [name, ...words] = positionals
  const action = requireAction(name)
  const { run, flags }: { run: (action: Action) => Promise<void>; flags: readonly string[] } =
    ACTIONS[action]
  for (const flag of Object.keys(values)) {
    if (flag !== 'keys' && !flags.includes(flag)) {
      throw new UsageError(`keys ${action} has no flag --${flag}`)
    }
  }
  if (action !== 'revoke' && words.length > 0) {
    throw new UsageError(`keys ${action} has no argument ${words[0]}`)
  }
  const file = findKeys(values.keys, context.env)
  if (!file) throw new UsageError(`keys ${action} needs --keys with a file, or RATESMITH_KEYS`)
  const output = openOutput(context)
  await run({ values, words, file, output, context })
  if (isShared(file.path, context)) {
    output.note(
      `ratesmith: other users can read ${file.path}, which has hashes and names; run: chmod 600 ${file.path}`,
    )
  }
  return 0
}

function requireAction(name: string | undefined): ActionName {
  const names = Object.keys(ACTIONS)
  if (name !== undefined && isAction(name)) return name
  if (name === undefined) throw new UsageError(`keys needs one of: ${names.join(', ')}`)
  const suggestion = didYouMean(nearest(name, names, 2))
  throw new UsageError(`keys must be followed by ${names.join(', ')}, got ${name}${suggestion}`)
}

function isAction(name: string): name is ActionName {
  return Object.hasOwn(ACTIONS, name)
}

async function create({ values, file, output, context }: Action): Promise<void> {
  const { plan, name, expires, origin: origins } = values
  if (plan === undefined) throw new UsageError('keys create needs --plan')
  if (name === undefined) throw new UsageError('keys create needs --name')
  const wrong = origins?.find((origin) => !isOrigin(origin))
  if (wrong !== undefined) {
    throw new UsageError(`--origin must be like https://example.com, got ${wrong || '""'}`)
  }
  const createdAt = context.now()
  const expiresAt = expires === undefined ? undefined : readEnd(expires, createdAt)
  const { key, hash } = await createKey()
  const record: StoredKey = {
    id: hash.slice(0, 12),
    hash,
    plan,
    name,
    createdAt,
    expiresAt,
    origins,
  }
  const store = await openKeyStore(file, context, true)
  await store.add(record).catch((error: Error) => {
    throw error instanceof TypeError ? new UsageError(`--${error.message}`) : error
  })
  output.print([key])
  const end = expiresAt === undefined ? '' : `, expires ${toDayAndTime(expiresAt)}`
  output.note(`ratesmith: key ${record.id} for ${name} on plan ${plan}${end}`)
  output.note(
    'ratesmith: keep it now, only its hash is stored; send it as Authorization: Bearer <key>',
  )
}

const MAX_DAYS = 36_600

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}

/** Reads `90d`, or a day, whose end in UTC is the end of the key. */
function readEnd(text: string, now: number): number {
  const [, days] = /^([1-9]\d{0,5})d$/.exec(text) ?? []
  if (days !== undefined && Number(days) <= MAX_DAYS) return now + Number(days) * DAY_MS
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined
  const isDay = day && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
  if (!isDay) {
    throw new UsageError(
      `--expires must be a number of days such as 90d, or a day (YYYY-MM-DD), got ${text || '""'}`,
    )
  }
  const end = day.getTime() + DAY_MS
  if (end <= now) throw new UsageError(`--expires must not be in the past, got ${text}`)
  return end
}

async function list({ values, file, output, context }: Action): Promise<void> {
  const found = await readAll(file, context)
  const now = context.now()
  if (values.json) {
    output.print([JSON.stringify({ keys: found.map((key) => describe(key, now)) })])
  } else if (output.terminal.isTTY) {
    const rows = found.map((key) => cellsOf(key, now).map((cell) => cell || '-'))
    output.print(
      toTable(
        [['id', 'name', 'plan', 'created', 'state', 'expires', 'origins'], ...rows],
        'title',
        output.terminal,
      ),
    )
  } else output.print(found.map((key) => cellsOf(key, now).join('\t')))
}

function cellsOf(key: StoredKey, now: number): string[] {
  const { id, name, plan, createdAt, expiresAt, origins = [] } = key
  return [
    id,
    toSingleLine(name),
    plan,
    toDayAndTime(createdAt),
    stateOf(key, now),
    expiresAt === undefined ? '' : toDayAndTime(expiresAt),
    origins.join(','),
  ]
}

type KeyState = 'active' | 'expired' | 'revoked'

function stateOf({ revokedAt, expiresAt = Infinity }: StoredKey, now: number): KeyState {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt <= now ? 'expired' : 'active'
}

function describe(key: StoredKey, now: number): object {
  const { id, name, plan, createdAt, expiresAt, revokedAt, origins } = key
  const timeOf = (time: number | undefined): string | null =>
    time === undefined ? null : new Date(time).toISOString()
  return {
    id,
    name,
    plan,
    state: stateOf(key, now),
    created: timeOf(createdAt),
    expires: timeOf(expiresAt),
    revoked: timeOf(revokedAt),
    origins: origins ?? null,
  }
}

function toDayAndTime(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

async function revoke({ words, file, output, context }: Action): Promise<void> {
  const [text, ...others] = words
  if (text === undefined || others.length > 0) {
    throw new UsageError('usage: keys revoke <id or name>')
  }
  const store = await openKeyStore(file, context)
  const { id, name, revokedAt } = findKey(text, await store.list())
  await store.revoke(id)
  const isLate = revokedAt !== undefined
  output.print([`${isLate ? 'already revoked' : 'revoked'} ${id} (${toSingleLine(name)})`])
  if (!isLate) output.note('ratesmith: servers refuse it within 10 s')
}

/** Returns the key with this id, or the only active one with this name. */
function findKey(text: string, all: readonly StoredKey[]): StoredKey {
  const byId = all.find(({ id }) => id === text)
  if (byId) return byId
  if (text.startsWith('rsk_')) {
    throw new UsageError(
      'keys revoke needs the id or the name of a key, not the key: see keys list',
    )
  }
  const named = all.filter(({ name, revokedAt }) => name === text && revokedAt === undefined)
  const [first, second] = named
  if (first && !second) return first
  if (first) {
    const ids = named.map(({ id }) => id).join(', ')
    throw new UsageError(`${text} is the name of ${named.length} keys; use an id: ${ids}`)
  }
  const known = all.flatMap(({ id, name }) => [id, name])
  throw new UsageError(`unknown key ${text}${didYouMean([...new Set(nearest(text, known, 2))])}`)
}

async function readAll(file: NamedFile, context: CommandContext): Promise<StoredKey[]> {
  return (await openKeyStore(file, context)).list()
}
