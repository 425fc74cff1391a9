import manifest from 'ratesmith/package.json' with { type: 'json' }

import { toSingleLine } from '../log.ts'
import type { CommandContext } from './context.ts'
import { checkBuiltIns } from './doctor-all.ts'
import {
  PROXY_VARIABLES,
  checkCache,
  checkProviders,
  checkProxies,
  checkRuntime,
  checkStore,
} from './doctor-checks.ts'
import type { CheckResult } from './doctor-checks.ts'
import { DOCTOR_OPTIONS } from './flags.ts'
import { openOutput } from './output.ts'
import { providerKeys } from './providers.ts'
import { toRatesFlags } from './session.ts'
import type { RatesFlags } from './session.ts'
import { findStore, isRedis } from './store.ts'
import { styled, withSpinner, wrapped } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { URL_VARIABLES, chooseUpstreams } from './upstreams.ts'
import type { Upstreams } from './upstreams.ts'
import { UsageError, parseArguments } from './usage.ts'

export async function doctor(args: string[], context: CommandContext): Promise<number> {
  const { values } = parseArguments({ args, options: DOCTOR_OPTIONS }, MOVED)
  const flags = toRatesFlags(values)
  if (values.all) requireNoChoice(flags)
  const output = openOutput(context)
  const checks = runChecks(flags, values, context)
  const results = await withSpinner(context, 'checking providers and stores', checks)
  const ok = results.every((result) => result.ok)
  output.print(
    flags.json
      ? [JSON.stringify({ ok, version: manifest.version, findings: results })]
      : results.flatMap((result) => linesOf(result, output.terminal)),
  )
  return ok ? 0 : 1
}

function requireNoChoice({ demo, pegs, providers }: RatesFlags): void {
  const given = Object.entries({ demo: demo || undefined, pegs: pegs || undefined, ...providers })
  const [named] = given.filter(([, value]) => value !== undefined)
  if (named) throw new UsageError(`--all cannot be combined with --${named[0]}`)
}

const MOVED = { redis: 'is now --store' }

/** Returns results that are safe to print: escaped and without passwords. */
async function runChecks(
  flags: RatesFlags,
  { store, all }: { store?: string | undefined; all?: boolean | undefined },
  context: CommandContext,
): Promise<CheckResult[]> {
  const { demo, cache } = flags
  const { env } = context
  const named = findStore(store, env)
  const upstreams = await (all ? ownUpstreams(context) : chooseUpstreams(flags, context))
  // Reports an invalid URL before any provider is called.
  const stores = [
    ...(cache && !demo ? [await checkCache(context)] : []),
    ...(named && !demo ? [await checkStore(named)] : []),
  ]
  const providers = await (all ? checkBuiltIns(upstreams, env) : checkProviders(upstreams))
  const machine = [checkRuntime(context), ...(demo ? [] : checkProxies(env))]
  const redacted = createRedaction(env, named && isRedis(named.place) ? [named.place] : [])
  return [...machine, ...providers, ...stores].map(({ subject, ok, found, ...others }) => ({
    subject: toSingleLine(redacted(subject)),
    ok,
    found: toSingleLine(redacted(found)),
    ...others,
  }))
}

async function ownUpstreams(context: CommandContext): Promise<Upstreams> {
  const own = Object.fromEntries(Object.values(URL_VARIABLES).map((name) => [name, undefined]))
  const flags = { demo: false, pegs: false, providers: { latest: 'ecb', history: 'ecb' } }
  return chooseUpstreams(flags, { ...context, env: { ...context.env, ...own } })
}

function linesOf(result: CheckResult, terminal: Terminal): string[] {
  const { subject, found, advice } = result
  const mark = markOf(result, terminal)
  const width = Math.max(terminal.width - INDENT.length, 1)
  const lines = [subject, found, ...(advice === null ? [] : [`-> ${advice}`])]
  const [first = '', ...others] = lines.flatMap((text) =>
    terminal.isTTY ? wrapped(text, width) : [text],
  )
  return [`${mark}  ${first}`, ...others.map((line) => INDENT + line)]
}

function markOf({ ok, skipped = false }: CheckResult, terminal: Terminal): string {
  if (skipped) return styled('aside', 'skips', terminal)
  return ok ? styled('good', 'works', terminal) : styled('bad', 'fails', terminal)
}

/** The width of `works  `. */
const INDENT = ' '.repeat(7)

/** Variables with URLs that may contain a password. */
const VARIABLES = [...Object.values(URL_VARIABLES), 'RATESMITH_STORE', ...PROXY_VARIABLES]

/** Redacting shorter texts would make the output unreadable. */
const MIN_SECRET_LENGTH = 3

/** Those of every URL in the text, and those of the variables of `env` and of `urls` anywhere. */
function createRedaction(
  env: NodeJS.ProcessEnv,
  urls: readonly string[],
): (text: string) => string {
  const written = VARIABLES.flatMap((name) => [env[name] ?? '', ...(env[name] ?? '').split(',')])
  const secrets = [...[...written, ...urls].flatMap(credentialsOf), ...providerKeys(env)]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .sort((one, other) => other.length - one.length)
  return (text) =>
    secrets
      .reduce((left, secret) => left.replaceAll(secret, '…'), text)
      .replace(/\/\/[^/\s]*@/g, '//…@')
}

/** Returns the password of `url`, encoded and decoded. */
function credentialsOf(url: string): string[] {
  const [, written] = /^[^/]*\/\/[^:@/]*:(.*)@/.exec(url) ?? []
  return written === undefined ? [] : [written, decoded(written)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not percent-encoded.
    return text
  }
}
