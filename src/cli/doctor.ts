import manifest from 'ratesmith/package.json' with { type: 'json' }

import { toSingleLine } from '../log.ts'
import type { CommandContext } from './context.ts'
import { checkCache, checkProxies, checkRuntime, checkStore } from './doctor-machine.ts'
import { checkBuiltIns, checkProviders } from './doctor-providers.ts'
import type { CheckResult } from './doctor-providers.ts'
import { DOCTOR_OPTIONS } from './flags.ts'
import { openOutput } from './output.ts'
import type { RatesFlags } from './session.ts'
import { findStore } from './store.ts'
import type { NamedStore } from './store.ts'
import { styled, withSpinner, wrapped } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { chooseUpstreams } from './upstreams.ts'
import { parseArguments, refuseWith } from './usage.ts'

export async function doctor(args: string[], context: CommandContext): Promise<number> {
  const { values } = parseArguments({ args, options: DOCTOR_OPTIONS })
  const { all, demo, pegs, latest, history, store } = values
  if (all) refuseWith('--all', { demo, pegs, latest, history })
  const output = openOutput(context)
  const named = demo ? undefined : findStore(store, context.env)
  const checks = runChecks(values, named, context)
  const found = await withSpinner(context, 'checking providers and stores', checks)
  const redacted = createRedaction(context.env, named?.place ?? '')
  const results = found.map((result) => ({
    ...result,
    subject: toSingleLine(redacted(result.subject)),
    found: toSingleLine(redacted(result.found)),
  }))
  const ok = results.every((result) => result.ok)
  output.print(
    values.json
      ? [JSON.stringify({ ok, version: manifest.version, findings: results })]
      : results.flatMap((result) => linesOf(result, output.terminal)),
  )
  return ok ? 0 : 1
}

async function runChecks(
  flags: RatesFlags & { all?: boolean | undefined },
  named: NamedStore | undefined,
  context: CommandContext,
): Promise<CheckResult[]> {
  const { all, demo, 'no-cache': isWithoutCache } = flags
  const upstreams = all ? undefined : await chooseUpstreams(flags, context)
  // Reports an invalid URL before any provider is called.
  const stores = [
    ...(isWithoutCache || demo ? [] : [await checkCache(context)]),
    ...(named ? [await checkStore(named)] : []),
  ]
  const providers = await (upstreams ? checkProviders(upstreams) : checkBuiltIns(context))
  const machine = [checkRuntime(context), ...(demo ? [] : checkProxies(context.env))]
  return [...machine, ...providers, ...stores]
}

/** The width of `works  `. */
const INDENT = ' '.repeat(7)

function linesOf(
  { ok, skipped, subject, found, advice }: CheckResult,
  terminal: Terminal,
): string[] {
  const mark = skipped
    ? styled('aside', 'skips', terminal)
    : styled(ok ? 'good' : 'bad', ok ? 'works' : 'fails', terminal)
  const width = Math.max(terminal.width - INDENT.length, 1)
  const lines = [subject, found, ...(advice === null ? [] : [`-> ${advice}`])]
  const [first = '', ...others] = lines.flatMap((text) =>
    terminal.isTTY ? wrapped(text, width) : [text],
  )
  return [`${mark}  ${first}`, ...others.map((line) => INDENT + line)]
}

/** Redacting shorter texts would make the output unreadable. */
const MIN_SECRET_LENGTH = 3

/** Removes the credentials of every URL, and keys and passwords of `store` and of the variables of `env` anywhere. */
function createRedaction(env: NodeJS.ProcessEnv, store: string): (text: string) => string {
  const secrets = Object.entries({ ...env, '--store': store })
    .flatMap(([name, value]) => {
      if (/^RATESMITH_\w+_KEY$/.test(name)) return [value]
      return /^RATESMITH_|^--store$|_proxy$/i.test(name)
        ? [value, ...value.split(',')].flatMap(passwordsOf)
        : []
    })
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .sort((one, other) => other.length - one.length)
  return (text) =>
    secrets
      .reduce((left, secret) => left.replaceAll(secret, '…'), text)
      .replace(/\/\/[^/\s]*@/g, '//…@')
}

/** Returns the password of `url`, as written and decoded. */
function passwordsOf(url: string): string[] {
  const [, written] = /^[^/]*\/\/[^:@/]*:(.*)@/.exec(url) ?? []
  if (written === undefined) return []
  try {
    return [written, decodeURIComponent(written)]
  } catch {
    return [written]
  }
}
