#!/usr/bin/env node
import manifest from 'ratesmith/package.json' with { type: 'json' }

import { COMMANDS, isCommandName } from './commands.ts'
import { didYouMean, nearest } from './nearest.ts'
import { UsageError, messageOf } from './usage-error.ts'

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args
  if (args.includes('--help') || args.includes('-h')) {
    const { HELP, OVERVIEW } = await import('./help.ts')
    return say(isCommandName(name) ? HELP[name] : OVERVIEW)
  }
  if (args.includes('--version') || args.includes('-v')) {
    return say(`${manifest.version}\n`)
  }
  if (name === undefined) throw new UsageError('no command, try ratesmith serve --demo')
  if (!isCommandName(name)) {
    const meant = didYouMean(nearest(name, Object.keys(COMMANDS), 2))
    throw new UsageError(`no command ${name}${meant}`)
  }
  const command = await COMMANDS[name]()
  return command(rest)
}

function say(text: string): number {
  // Whoever has read enough may leave.
  process.stdout.on('error', () => process.exit())
  process.stdout.write(text)
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const isUsage = error instanceof UsageError
  const hint = isUsage ? ' (see ratesmith --help)' : ''
  process.stderr.write(`ratesmith: ${messageOf(error)}${hint}\n`)
  process.exitCode = isUsage ? 2 : 1
}
