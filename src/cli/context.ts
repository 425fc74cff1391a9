/** An output of a command. */
interface OutputStream {
  /** Whether it is a terminal. */
  isTTY?: boolean
  /** Characters in a line of that terminal. */
  columns?: number
  write(text: string): unknown
  on(event: 'error', listener: () => void): unknown
}

/** What a command uses of the process and the machine that it runs on. */
export interface CommandContext {
  stdout: OutputStream
  stderr: OutputStream
  env: NodeJS.ProcessEnv
  /** As `process.platform` names it. */
  platform: string
  /** The runtime and its version, as in `process.versions`. */
  versions: Readonly<Record<string, string | undefined>>
  /** Clock, ms since the Unix epoch. */
  now(): number
  /** The user's home folder (default: that of the operating system). */
  home?: string
  /** Used for every upstream call (default `globalThis.fetch`, through the proxies of the environment). */
  fetch?: typeof fetch
}
