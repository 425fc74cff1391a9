import type { CommandContext } from './context.ts'

/** Runs a command with what stands behind its name; resolves to the exit code, rejects with a `UsageError` for wrong use. */
export type Command = (args: string[], context: CommandContext) => Promise<number>

/** The commands by their names. Each is loaded when it is asked for, as most of what it needs is of no use to the others. */
export const COMMANDS = {
  serve: async () => (await import('./serve.ts')).serveAndExit,
  convert: async () => (await import('./convert.ts')).convert,
  latest: async () => (await import('./latest.ts')).latest,
  history: async () => (await import('./history.ts')).history,
  currencies: async () => (await import('./currencies.ts')).currencies,
  doctor: async () => (await import('./doctor.ts')).doctor,
} as const satisfies Record<string, () => Promise<Command>>

/** The name of a command. */
export type CommandName = keyof typeof COMMANDS

/** Whether there is a command of that name. */
export function isCommandName(name: string | undefined): name is CommandName {
  return name !== undefined && Object.hasOwn(COMMANDS, name)
}
