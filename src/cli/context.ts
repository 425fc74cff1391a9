interface OutputStream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
  on(event: 'error', listener: () => void): unknown
}

export interface CommandContext {
  stdout: OutputStream
  stderr: OutputStream
  /** Input of commands that read it (default: that of the process). */
  stdin?: AsyncIterable<Uint8Array>
  env: NodeJS.ProcessEnv
  /** A value of `process.platform`. */
  platform: string
  versions: Readonly<Record<string, string | undefined>>
  /** Clock, ms since the Unix epoch. */
  now(): number
  /** The user's home folder (default: as reported by the operating system). */
  home?: string
  /** Folder of the user's project (default: the current one). */
  folder?: string
  /** Makes every upstream call (default `globalThis.fetch`, through the proxies that the environment sets). */
  fetch?: typeof fetch
}

const { bun, deno } = process.versions

// Bun and Deno also have `process.versions.node`.
export const platform = bun ? 'bun' : deno ? 'deno' : 'node'
