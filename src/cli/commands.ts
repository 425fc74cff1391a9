import manifest from 'ratesmith/package.json' with { type: 'json' }

import { didYouMean, nearest } from '../known-options.ts'
import type { CommandContext } from './context.ts'
import type { CommandName } from './help.ts'
import { UsageError, messageOf } from './usage.ts'

/** Runs a command with the arguments after its name; resolves to the exit code. Rejects with a `UsageError` for invalid usage. */
type Command = (args: string[], context: CommandContext) => Promise<number>

/** The commands by name. Each module is imported only when its command runs. */
const COMMANDS: Readonly<Record<CommandName, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serveAndExit,
  convert: async () => (await import('./convert.ts')).convert,
  latest: async () => (await import('./latest.ts')).latest,
  history: async () => (await import('./history.ts')).history,
  currencies: async () => (await import('./currencies.ts')).currencies,
  sources: async () => (await import('./sources.ts')).sources,
  status: async () => (await import('./sources.ts')).status,
  export: async () => (await import('./export.ts')).exportRates,
  sync: async () => (await import('./sync.ts')).sync,
  mcp: async () => (await import('./mcp.ts')).mcp,
  doctor: async () => (await import('./doctor.ts')).doctor,
  keys: async () => (await import('./keys.ts')).keys,
  help: async () => showHelp,
}

/** Runs the command that `args` select and resolves to its exit code; prints an error as one line on stderr. */
export async function dispatch(args: string[], context: CommandContext): Promise<number> {
  try {
    return await run(args, context)
  } catch (error) {
    const isUsage = error instanceof UsageError
    const page = isCommandName(args[0]) && args[0] !== 'help' ? ` ${args[0]}` : ''
    const hint = isUsage ? ` (see ratesmith help${page})` : ''
    // Arguments and files that a message quotes may contain commands for terminals.
    const message = messageOf(error).replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd')
    context.stderr.write(`ratesmith: ${message}${hint}\n`)
    return isUsage ? 2 : 1
  }
}

async function run(args: string[], context: CommandContext): Promise<number> {
  const [name, ...rest] = args
  if (name === '--') return dispatch(rest, context)
  if (args.includes('--help') || args.includes('-h')) {
    return showHelp(isCommandName(name) ? [name] : [], context)
  }
  if (name === 'version' || args.includes('--version') || args.includes('-v')) {
    return print(`${manifest.version}\n`, context)
  }
  if (name === undefined) return showHelp([], context)
  if (!isCommandName(name)) {
    const { adviceOnWord, isConversion } = await import('./words.ts')
    if (isConversion(args)) return dispatch(['convert', ...args], context)
    const suggestion = didYouMean(nearest(name, [...Object.keys(COMMANDS), 'version'], 2))
    throw new UsageError(adviceOnWord(name) ?? `unknown command ${name}${suggestion}`)
  }
  const command = await COMMANDS[name]()
  return command(rest, context)
}

async function showHelp([name, ...others]: string[], context: CommandContext): Promise<number> {
  const { TOPICS, environmentPage, overview, pageOf, providersPage } = await import('./help.ts')
  if (others.length > 0) throw new UsageError(`help has no argument ${others[0]}`)
  if (name === undefined || name === 'version') return print(overview(), context)
  if (name === 'environment') return print(await environmentPage(), context)
  if (name === 'providers') return print(await providersPage(), context)
  if (isCommandName(name)) return print(pageOf(name), context)
  const suggestion = didYouMean(nearest(name, [...Object.keys(COMMANDS), ...TOPICS], 2))
  throw new UsageError(`unknown command ${name}${suggestion}`)
}

function isCommandName(name: string | undefined): name is CommandName {
  return name !== undefined && Object.hasOwn(COMMANDS, name)
}

function print(text: string, { stdout }: CommandContext): number {
  // A reader such as `head` may close the pipe early.
  stdout.on('error', () => process.exit())
  stdout.write(text)
  return 0
}
