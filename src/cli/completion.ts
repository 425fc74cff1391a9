import { currencies } from '../currencies.ts'
import type { CommandContext } from './context.ts'
import { PAGES } from './help.ts'
import { openOutput } from './output.ts'
import { loadProviders } from './providers.ts'
import type { Completion, Flag } from './usage.ts'
import { UsageError, parseArguments } from './usage.ts'

/** What the scripts complete for a command. */
interface Command {
  name: string
  about: string
  /** Completions of its words. */
  words: Values
  flags: readonly FlagCompletion[]
}

interface FlagCompletion {
  name: string
  short: string | undefined
  about: string
  /** Absent for a flag without a value. */
  values: Values | undefined
}

interface Values {
  /** Empty for a value that cannot be completed. */
  words: readonly string[]
  isFile: boolean
  /** Whether several values may follow each other with commas. */
  isList: boolean
}

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: toBash,
  zsh: toZsh,
  fish: toFish,
}

/** Runs `ratesmith completion`: prints the completion script of a shell. */
export async function completion(args: string[], context: CommandContext): Promise<number> {
  const { positionals } = parseArguments({ args, options: {}, allowPositionals: true })
  const [shell = '', ...others] = positionals
  const script = Object.hasOwn(SCRIPTS, shell) && others.length === 0 ? SCRIPTS[shell] : undefined
  if (!script) throw new UsageError(`completion must be followed by bash, zsh or fish`)
  openOutput(context).print([script(await describeCommands())])
  return 0
}

/** Returns the commands and flags of the help with their values. */
async function describeCommands(): Promise<Command[]> {
  const providers = await loadProviders()
  const namesOf = (data: 'latest' | 'history'): string[] =>
    providers.filter((provider) => provider[data]).map(({ name }) => name)
  const valuesOf = (of: Completion | undefined): Values => {
    if (of === 'latest' || of === 'history') {
      return { words: namesOf(of), isFile: false, isList: true }
    }
    if (of === 'currency' || of === 'currencies') {
      return {
        words: currencies.map(({ code }) => code),
        isFile: false,
        isList: of === 'currencies',
      }
    }
    if (of === 'file') return { words: [], isFile: true, isList: false }
    return { words: of ?? [], isFile: false, isList: false }
  }
  return Object.entries(PAGES).map(([name, page]) => {
    const {
      summary,
      options,
      words,
    }: { summary: readonly string[]; options: Readonly<Record<string, Flag>>; words?: Completion } =
      page
    const known = valuesOf(words)
    const flags = Object.entries(options).filter(([, { help }]) => help !== '')
    return {
      name,
      about: summary[1] ?? '',
      words: name === 'help' ? { ...known, words: [...Object.keys(PAGES), ...known.words] } : known,
      flags: [
        ...flags.map(([flag, { type, short, help, complete }]) => {
          return {
            name: flag,
            short,
            about: help,
            values: type === 'string' ? valuesOf(complete) : undefined,
          }
        }),
        { name: 'help', short: 'h', about: 'show the help', values: undefined },
      ],
    }
  })
}

function formsOf({ name, short }: FlagCompletion): string[] {
  return [...(short === undefined ? [] : [`-${short}`]), `--${name}`]
}

/** Quotes for bash and zsh. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Returns the cases of `command flag` that bash and zsh share: `use` gets the values of each. */
function toCases(commands: readonly Command[], use: (values: Values) => string): string {
  const flags = commands.flatMap(({ name, flags: all }) =>
    all.flatMap((flag) => {
      if (!flag.values) return []
      const forms = formsOf(flag).map((form) => quoted(`${name} ${form}`))
      return [`    ${forms.join('|')}) ${use(flag.values)}; return;;`]
    }),
  )
  return flags.join('\n')
}

function useOf({ words, isFile, isList }: Values): string {
  if (isFile) return '_ratesmith_files'
  return `_ratesmith_${isList ? 'list' : 'words'} ${quoted(words.join(' '))}`
}

/** Returns the cases of a command: its flags, or its words. */
function toWordCases(commands: readonly Command[]): string {
  return commands
    .map(({ name, flags, words }) => {
      const forms = quoted(flags.flatMap(formsOf).join(' '))
      return `    ${name})
      if [[ $current == -* ]]; then _ratesmith_words ${forms}
      else ${useOf(words)}; fi;;`
    })
    .join('\n')
}

function toBash(commands: readonly Command[]): string {
  return `# Completion of ratesmith in bash. In ~/.bashrc: eval "$(ratesmith completion bash)"
_ratesmith_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
_ratesmith_list() {
  local done=
  [[ $current == *,* ]] && done="\${current%,*},"
  COMPREPLY=($(compgen -P "$done" -W "$1" -- "\${current##*,}"))
}
_ratesmith_files() { compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); }
_ratesmith() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command=\${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then _ratesmith_words ${quoted(commands.map(({ name }) => name).join(' '))}; return; fi
  case "$command $previous" in
${toCases(commands, useOf)}
  esac
  case $command in
${toWordCases(commands)}
  esac
}
complete -F _ratesmith ratesmith`
}

function toZsh(commands: readonly Command[]): string {
  const described = commands.map(({ name, about }) => quoted(`${name}:${about}`)).join(' ')
  return `#compdef ratesmith
# Completion of ratesmith in zsh. In ~/.zshrc, after compinit: eval "$(ratesmith completion zsh)"
_ratesmith_words() { compadd -- \${=1} }
_ratesmith_list() { compset -P '*,'; compadd -q -S ',' -- \${=1} }
_ratesmith_files() { _files }
_ratesmith() {
  local current=\${words[CURRENT]} previous=\${words[CURRENT-1]} command=\${words[2]}
  if ((CURRENT == 2)); then
    local -a commands=(${described})
    _describe command commands
    return
  fi
  case "$command $previous" in
${toCases(commands, useOf)}
  esac
  case $command in
${toWordCases(commands)}
  esac
}
compdef _ratesmith ratesmith`
}

function toFish(commands: readonly Command[]): string {
  const text = (value: string): string => `'${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`
  const list = ({ words, isFile, isList }: Values): string => {
    if (isFile) return '-rF'
    const known = isList ? `(__ratesmith_list ${words.join(' ')})` : words.join(' ')
    return words.length === 0 ? '-x' : `-x -a ${text(known)}`
  }
  const lines = commands.flatMap(({ name, about, words, flags }) => {
    const when = `complete -c ratesmith -n '__ratesmith_uses ${name}'`
    return [
      `complete -c ratesmith -n __fish_use_subcommand -a ${name} -d ${text(about)}`,
      ...(words.words.length > 0 ? [`${when} ${list(words).replace('-x ', '')}`] : []),
      ...flags.map(({ name: flag, short, about: help, values }) => {
        const letter = short === undefined ? '' : ` -s ${short}`
        return `${when} -l ${flag}${letter} -d ${text(help)}${values ? ` ${list(values)}` : ''}`
      }),
    ]
  })
  return `# Completion of ratesmith in fish. In ~/.config/fish/config.fish: ratesmith completion fish | source
function __ratesmith_uses
  set -l words (commandline -opc)
  test (count $words) -gt 1; and test $words[2] = $argv[1]
end
function __ratesmith_list
  set -l done (string match -r '.*,' -- (commandline -ct | string replace -r '^--[^=]*=' ''))
  for word in $argv
    echo "$done$word"
  end
end
complete -c ratesmith -f
${lines.join('\n')}`
}
