import type { Attribution } from '../index.ts'
import type { CommandContext } from './context.ts'
import { wrapped } from './terminal/layout.ts'
import { styled } from './terminal/style.ts'
import { describeTerminal } from './terminal/terminal.ts'
import type { Terminal } from './terminal/terminal.ts'

/** Where a command writes to. */
export interface Output {
  /** What stdout is. */
  terminal: Terminal
  /** Writes lines to stdout. */
  print(lines: readonly string[]): void
  /** Writes a line to stderr, for people wherever stdout goes. */
  note(line: string): void
}

/** The outputs of a command. If a reader such as `head` closes the pipe, the process ends silently. */
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

/** What is to be shown wherever rates of `source` are. */
export function toNotice(source: Attribution): string[] {
  return [`${source.name}, ${source.url}`, DISCLAIMER]
}

/** The same in lines that fit a terminal. */
export function noticeLines(source: Attribution, terminal: Terminal): string[] {
  return toNotice(source)
    .flatMap((text) => wrapped(text, terminal.width))
    .map((line) => styled('aside', line, terminal))
}
