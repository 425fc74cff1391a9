import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import { ROOT } from '../../system/runtimes.ts'

export interface Block {
  page: string
  /** The line of the opening fence, from 1. */
  line: number
  /** The word after the fence, for example `ts`, or an empty text. */
  language: string
  text: string
  /** The paragraph before the block. */
  lead: string
}

export interface Page {
  /** Path relative to the project root. */
  name: string
  text: string
  blocks: Block[]
  /** All lines, empty inside blocks. */
  prose: string[]
}

export function followedPages(): Page[] {
  return globSync(['README.md', '{docs,skills}/**/*.md'], { cwd: ROOT }).toSorted().map(openPage)
}

export function linkedPages(): Page[] {
  const others = globSync(['CHANGELOG.md', '{bench,.github}/**/*.md'], { cwd: ROOT })
  return [...followedPages(), ...others.map(openPage)]
}

export function openPage(name: string): Page {
  const page: Page = { name, text: readFileSync(join(ROOT, name), 'utf8'), blocks: [], prose: [] }
  let open: { block: Block; indent: string; fence: string } | undefined
  for (const [index, line] of page.text.split('\n').entries()) {
    const [, indent = '', fence, language = ''] = /^( *)(`{3,}|~{3,}) *(.*?) *$/.exec(line) ?? []
    if (open && line.trim() === open.fence) open = undefined
    else if (open) {
      const text = line.startsWith(open.indent) ? line.slice(open.indent.length) : line
      open.block.text += `${text}\n`
    } else if (fence !== undefined) {
      const lead = lastParagraph(page.prose)
      open = { block: { page: name, line: index + 1, language, text: '', lead }, indent, fence }
      page.blocks.push(open.block)
    } else {
      page.prose.push(line)
      continue
    }
    page.prose.push('')
  }
  if (open) throw new Error(`${name}:${open.block.line}: the block has no end`)
  return page
}

/** Matches programs that do not compile without the packages of `test/apps`. */
export const OF_APPS = /from '(?:@nestjs|@react-router)\/|\btoWebRequest\b/

/**
 * Returns the files of apps that a block is, by its lead: "Next.js, in `next.config.ts`:", or several such parts joined by "and".
 * frameworks.test.ts runs these blocks, in the apps.
 */
export function filesOf({ lead }: Block): { framework: string; path: string }[] {
  const parts = lead.replace(/\s+/g, ' ').split(/, and (?=[A-Z])/)
  return parts.flatMap((part) => {
    const [, framework, path] = /^([A-Z][^,`]*), in `([^`]+)`/.exec(part) ?? []
    return framework === undefined || path === undefined ? [] : [{ framework, path }]
  })
}

function lastParagraph(lines: readonly string[]): string {
  const end = lines.findLastIndex((line) => line.trim() !== '') + 1
  const start = lines.findLastIndex((line, index) => index < end && line.trim() === '') + 1
  return lines.slice(start, end).join('\n')
}

/** Code of the pages that is not run: lines of `sh`, or whole blocks of another language, and what runs them instead. */
const EXCEPTIONS: [language: string, matches: RegExp, reason: string][] = [
  ['sh', /^npm (?:ci|run|start|test)\b/, 'needs a clone'],
  ['sh', /^(?:docker|rclone|sudo) /, 'needs Docker, a bucket or systemd'],
  ['sh', /^npx (?:openapi-typescript|wrangler) |^npm install .*\bpg\b/, 'is not installed here'],
  ['sh', /^(?:claude|codex) mcp add /, 'is not installed here'],
  ['json', /"command": "npx"/, 'test/documentation.test.ts'],
  ['ini', /\[Service\]/, 'test/system/systemd.test.ts'],
  ['sql', /./, 'test/sql/pglite.test.ts, test/cli/export-faults.test.ts'],
  ['ts', /from 'pg'/, 'test/system/examples.test.ts'],
  ['ts', /'openapi-fetch'/, 'openapi-tools.test.ts'],
  ['ts', /^\/\/ config\.mts\n/, 'a command of the page, or smoke/serve.test.ts'],
  ['ts', /\bproxy\.example\b/, 'undici-fetch.test.ts'],
  ['jsonc', /"compatibility_date"/, 'configures Wrangler'],
  ['yaml', /^scrape_configs:|- alert:/m, 'monitoring.test.ts'],
  ['yaml', /^jobs:/m, 'lint-workflows.ts'],
  ['nginx', /proxy_pass |immutable/, 'test/system/nginx.test.ts'],
]

/** Returns whether a line of `sh`, or a block of another language, is run. */
export function isFollowed({ language, text }: Pick<Block, 'language' | 'text'>): boolean {
  return !EXCEPTIONS.some(([only, matches]) => only === language && matches.test(text))
}

/** Returns the targets of a page's links, without those that have a scheme. */
export function linksOf({ prose }: Page): string[] {
  const text = prose.join('\n').replaceAll(/(`+)[^`](?:[^]*?[^`])??\1(?!`)/g, '')
  const inline = /\]\(\s*<?([^)\s>]+)/g
  const reference = /^ {0,3}\[[^\]]+\]:\s*(\S+)/gm
  const html = /<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]+)"/g
  const found = [inline, reference, html].flatMap((form) => [...text.matchAll(form)])
  return found.map(([, target = '']) => target).filter((target) => !/^(?:\w+:|\/\/)/.test(target))
}

export function isBroken(page: Page, target: string): boolean {
  const [path = '', anchor] = target.split('#').map(decodeURIComponent)
  const file = path === '' ? join(ROOT, page.name) : join(ROOT, dirname(page.name), path)
  const name = relative(ROOT, file)
  if (name.startsWith('..') || !existsSync(file)) return true
  if (anchor === undefined) return false
  const isPage = statSync(file).isFile() && file.endsWith('.md')
  return !isPage || !anchorsOf(openPage(name)).includes(anchor)
}

/** Returns the anchors that GitHub makes of headings; the second of two equal ones ends in `-1`. */
function anchorsOf({ prose }: Page): string[] {
  const counts = new Map<string, number>()
  return prose.flatMap((line) => {
    const [, heading] = /^ {0,3}#{1,6} +(.*?)(?: +#+)? *$/.exec(line) ?? []
    if (heading === undefined) return []
    const slug = slugOf(heading)
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return [count === 0 ? slug : `${slug}-${count}`]
  })
}

function slugOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
  return text.replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '').replaceAll(' ', '-')
}
