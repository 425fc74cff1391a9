import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from '../system/root.ts'
import { SCRIPTS } from './commands.ts'

/** The pages of `.github/`, by their names without an ending. */
export const PAGES = ['CODE_OF_CONDUCT', 'CONTRIBUTING', 'PULL_REQUEST_TEMPLATE', 'SECURITY']

/** What a reader makes up, and what comes only of a release. */
const EXAMPLES = /^(createName.*|owner\/name|ratesmith-.*|SHA256SUMS)$/

/** What commands make, and a clone has not got. */
const MADE = /^(dist|build|\.runtimes)\//

const PATH = /^(\.?[\w-]+\/)+([\w.-]+)?$|^[\w.-]+\.(json|ts|md|yml)$/

/** The text of a file, by its path from the root. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

export function readPage(name: string): string {
  return read(`.github/${name}.md`)
}

/** Files and folders that a page names, and that there are not. */
export function missingPaths(text: string): string[] {
  return codeSpans(text)
    .filter((code) => PATH.test(code) && !EXAMPLES.test(code) && !MADE.test(code))
    .filter((path) => {
      const places = ['', '.github/workflows/', '.github/']
      return !places.some((place) => existsSync(join(ROOT, place + path)))
    })
}

/** Scripts that a page names, and that package.json has not got. */
export function missingScripts(text: string): string[] {
  const commands = [...codeSpans(text), ...shellLines(text)]
  const scripts = commands.flatMap((code) => /^npm run ([\w:-]+)/.exec(code)?.[1] ?? [])
  return scripts.filter((script) => !Object.hasOwn(SCRIPTS, script))
}

/** What stands between backticks on one line, but for blocks. */
function codeSpans(text: string): string[] {
  const prose = text.replace(/^ *```.*?^ *```/gms, '')
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}

function shellLines(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```sh\n(.*?)^ *```/gms)]
  return blocks.flatMap(([, block = '']) => block.split('\n').map((line) => line.trim()))
}

/** The first column of the table that starts with `head`, without backticks, sorted. */
export function firstColumn(text: string, head: string): string[] {
  const [table = ''] = new RegExp(`^\\| ${head} .*?\\n(?!\\|)`, 'ms').exec(text) ?? []
  const [, , ...rows] = table.trimEnd().split('\n')
  return sorted(rows.map((row) => row.split('|')[1]?.trim().replaceAll('`', '') ?? ''))
}

/** Names in the order of their letters. */
export function sorted(names: string[]): string[] {
  return names.toSorted((one, other) => (one < other ? -1 : 1))
}
