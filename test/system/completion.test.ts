import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { beforeEach, describe, expect, it } from 'vitest'

import { PAGES } from '../../src/cli/help.ts'
import { run } from '../cli/run.ts'
import { requireProgram } from './processes.ts'

/** Prints the completions that the function of bash returns for the words. */
const BASH = `source "$1"; shift
complete -p ratesmith >/dev/null || exit 1
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_ratesmith
printf '%s\\n' "\${COMPREPLY[@]}"`

/**
 * Types the words into an interactive zsh on a pseudo-terminal, with a Tab, and prints what zsh offers. The widget replaces
 * \`compadd\` by one that reports its matches.
 */
const ZSH = `zmodload zsh/zpty
export SCRIPT=$1 OUT=$2
zpty inner zsh -f -i
zpty -w inner 'autoload -U compinit && compinit -u -D; source $SCRIPT
compadd() { local -a found; builtin compadd -A found "$@"; (( $#found )) && print -rl -- $found >> $OUT; builtin compadd "$@" }
finish() { zle complete-word; exit }; zle -N finish; bindkey "^I" finish
zle-line-init() { print READY-$((40 + 2)) }; zle -N zle-line-init'
zpty -r inner line '*READY-42*'
zpty -n -w inner "$3"$'\\t'
while zpty -r inner line; do :; done
cat $OUT 2>/dev/null`

interface Shell {
  program: string
  complete(file: string, line: string): readonly string[]
}

const SHELLS: Readonly<Record<string, Shell>> = {
  bash: {
    program: '/usr/bin/bash',
    complete: (file, line) => ['--norc', '-c', BASH, 'bash', file, ...line.split(' ')],
  },
  zsh: {
    program: '/usr/bin/zsh',
    complete: (file, line) => ['-f', '-c', ZSH, 'zsh', file, `${file}.out`, line],
  },
  fish: {
    program: '/usr/bin/fish',
    complete: (file, line) => ['--no-config', '-c', `source ${file}; complete -C '${line}'`],
  },
}

/** Returns what a shell offers for a line, in order. */
async function offered(shell: string, line: string): Promise<string[]> {
  const { program, complete } = SHELLS[shell] ?? { program: '', complete: () => [] }
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-completion-'))
  try {
    const file = join(folder, 'completion')
    writeFileSync(file, (await run(['completion', shell])).stdout)
    const env = { ...process.env, HOME: folder, TERM: 'xterm' }
    const { stdout, stderr } = spawnSync(program, complete(file, line), { encoding: 'utf8', env })
    // zsh complains about a missing terminal.
    const complaints = shell === 'zsh' ? '' : stderr
    const words = (complaints + stdout).split('\n').map((each) => each.split('\t')[0] ?? '')
    // zsh offers the value after the last comma.
    return [...new Set(words.filter((word) => word !== ''))].toSorted()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe.each(Object.keys(SHELLS))('completion in %s', (shell) => {
  beforeEach(({ skip }) => requireProgram(shell, SHELLS[shell]?.program ?? '', skip))

  it.each([
    ['ratesmith co', ['completion', 'convert']],
    ['ratesmith latest --ba', ['--base']],
    ['ratesmith latest --base EU', ['EUR']],
    ['ratesmith latest -b EU', ['EUR']],
    ['ratesmith history USD EUR -p 1', ['1M', '1W', '1Y']],
    ['ratesmith convert --rule previous', ['previous-business-day']],
    ['ratesmith convert 100 USD JP', ['JPY']],
    ['ratesmith latest --latest ec', ['ecb']],
    ['ratesmith serve --when-counters-fail re', ['refuse']],
    ['ratesmith keys re', ['revoke']],
    ['ratesmith help env', ['environment']],
    ['ratesmith completion f', ['fish']],
  ])('completes %s', async (line, expected) => {
    expect(await offered(shell, line)).toEqual(expected)
  })

  it('completes every command', async () => {
    expect(await offered(shell, 'ratesmith ')).toEqual(Object.keys(PAGES).toSorted())
  })

  it('completes a code after a comma', async () => {
    const [word = ''] = await offered(shell, 'ratesmith latest --symbols USD,EU')
    expect(word).toBe(shell === 'zsh' ? 'EUR' : 'USD,EUR')
  })
})
