import manifest from 'ratesmith/package.json' with { type: 'json' }

import { toSingleLine } from '../log.ts'
import type { CommandContext } from './context.ts'
import type { CheckResult } from './doctor/check-result.ts'
import { checkProxies, checkRuntime } from './doctor/machine.ts'
import { checkProviders } from './doctor/providers.ts'
import { createRedaction } from './doctor/secrets.ts'
import { checkCache, checkRedis } from './doctor/stores.ts'
import { openOutput } from './output.ts'
import { parseRatesArguments } from './rates-flags.ts'
import type { RatesFlags } from './rates-flags.ts'
import { findRedis } from './redis.ts'
import { wrapped } from './terminal/layout.ts'
import { withSpinner } from './terminal/spinner.ts'
import { styled } from './terminal/style.ts'
import type { Terminal } from './terminal/terminal.ts'
import { chooseUpstreams } from './upstreams.ts'

/** Runs `ratesmith doctor`: checks providers, stores and the machine. Resolves to 1 if a check fails. */
export async function doctor(args: string[], context: CommandContext): Promise<number> {
  const { flags, own } = parseRatesArguments(args, { own: ['redis'], allowPositionals: false })
  const output = openOutput(context)
  const checks = runChecks(flags, own.redis, context)
  const results = await withSpinner(context, 'checking providers and stores', checks)
  const ok = results.every((result) => result.ok)
  output.print(
    flags.json
      ? [JSON.stringify({ ok, version: manifest.version, findings: results })]
      : results.flatMap((result) => linesOf(result, output.terminal)),
  )
  return ok ? 0 : 1
}

/** Returns results that are safe to print: escaped and without passwords. */
async function runChecks(
  flags: RatesFlags,
  redis: string | undefined,
  context: CommandContext,
): Promise<CheckResult[]> {
  const { demo, cache } = flags
  const { env } = context
  const named = findRedis(redis, env)
  const upstreams = await chooseUpstreams(flags, context)
  // Reports an invalid URL before any provider is called.
  const stores = [
    ...(cache && !demo ? [await checkCache(context)] : []),
    ...(named && !demo ? [await checkRedis(named)] : []),
  ]
  const providers = await checkProviders(upstreams)
  const machine = [checkRuntime(context), ...(demo ? [] : checkProxies(env))]
  const redacted = createRedaction(env, named ? [named.url] : [])
  return [...machine, ...providers, ...stores].map(({ subject, ok, found, advice }) => ({
    subject: toSingleLine(redacted(subject)),
    ok,
    found: toSingleLine(redacted(found)),
    advice,
  }))
}

function linesOf({ subject, ok, found, advice }: CheckResult, terminal: Terminal): string[] {
  const mark = ok ? styled('good', 'works', terminal) : styled('bad', 'fails', terminal)
  const width = Math.max(terminal.width - INDENT.length, 1)
  const lines = [subject, found, ...(advice === null ? [] : [`-> ${advice}`])]
  const [first = '', ...others] = lines.flatMap((text) =>
    terminal.isTTY ? wrapped(text, width) : [text],
  )
  return [`${mark}  ${first}`, ...others.map((line) => INDENT + line)]
}

/** The width of `works  `. */
const INDENT = ' '.repeat(7)
