import type { CommandContext } from './context.ts'

/** Runs a command with the arguments after its name; resolves to the exit code. Rejects with a `UsageError` for invalid usage. */
export type Command = (args: string[], context: CommandContext) => Promise<number>

/** The commands by name. Each module is imported only when its command runs. */
export const COMMANDS = {
  serve: async () => (await import('./serve.ts')).serveAndExit,
  convert: async () => (await import('./convert.ts')).convert,
  latest: async () => (await import('./latest.ts')).latest,
  history: async () => (await import('./history.ts')).history,
  currencies: async () => (await import('./currencies.ts')).currencies,
  doctor: async () => (await import('./doctor.ts')).doctor,
} as const satisfies Record<string, () => Promise<Command>>

export type CommandName = keyof typeof COMMANDS

export function isCommandName(name: string | undefined): name is CommandName {
  return name !== undefined && Object.hasOwn(COMMANDS, name)
}
