import type { Attribution } from '../index.ts'
import type { CommandContext } from './context.ts'
import { wrapped } from './terminal/layout.ts'
import { styled } from './terminal/style.ts'
import { describeTerminal } from './terminal/terminal.ts'
import type { Terminal } from './terminal/terminal.ts'

/** The outputs of a command. */
export interface Output {
  /** The capabilities of stdout. */
  terminal: Terminal
  /** Writes lines to stdout. */
  print(lines: readonly string[]): void
  /** Writes a line to stderr. */
  note(line: string): void
}

/** Opens the outputs of a command. If a reader such as `head` closes the pipe, the process ends silently. */
export function openOutput({ stdout, stderr, env, platform }: CommandContext): Output {
  const leave = (): never => process.exit()
  for (const stream of [stdout, stderr]) stream.on('error', leave)
  return {
    terminal: describeTerminal(stdout, env, platform),
    print: (lines) => void stdout.write(lines.map((line) => `${line}\n`).join('')),
    note: (line) => void stderr.write(`${line}\n`),
  }
}

const DISCLAIMER = 'For information only, not an offer to exchange currency.'

/** Returns the attribution of `source` and the disclaimer, which must accompany its rates. */
export function toNotice(source: Attribution): string[] {
  return [`${source.name}, ${source.url}`, DISCLAIMER]
}

/** Returns the notice in lines that fit the terminal. */
export function noticeLines(source: Attribution, terminal: Terminal): string[] {
  return toNotice(source)
    .flatMap((text) => wrapped(text, terminal.width))
    .map((line) => styled('aside', line, terminal))
}
