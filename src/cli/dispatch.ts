import manifest from 'ratesmith/package.json' with { type: 'json' }

import { didYouMean, nearest } from '../nearest.ts'
import { COMMANDS, isCommandName } from './commands.ts'
import type { CommandContext } from './context.ts'
import { UsageError, messageOf } from './usage-error.ts'

/** Runs the command that `args` select and resolves to its exit code; prints an error as one line on stderr. */
export async function dispatch(args: string[], context: CommandContext): Promise<number> {
  try {
    return await run(args, context)
  } catch (error) {
    const isUsage = error instanceof UsageError
    const hint = isUsage ? ' (see ratesmith --help)' : ''
    context.stderr.write(`ratesmith: ${messageOf(error)}${hint}\n`)
    return isUsage ? 2 : 1
  }
}

async function run(args: string[], context: CommandContext): Promise<number> {
  const [name, ...rest] = args
  if (args.includes('--help') || args.includes('-h')) {
    const { HELP, OVERVIEW } = await import('./help.ts')
    return print(isCommandName(name) ? HELP[name] : OVERVIEW, context)
  }
  if (args.includes('--version') || args.includes('-v')) {
    return print(`${manifest.version}\n`, context)
  }
  if (name === undefined) throw new UsageError('missing command; try ratesmith serve --demo')
  if (!isCommandName(name)) {
    const suggestion = didYouMean(nearest(name, Object.keys(COMMANDS), 2))
    throw new UsageError(`unknown command ${name}${suggestion}`)
  }
  const command = await COMMANDS[name]()
  return command(rest, context)
}

function print(text: string, { stdout }: CommandContext): number {
  // A reader such as `head` may close the pipe early.
  stdout.on('error', () => process.exit())
  stdout.write(text)
  return 0
}
