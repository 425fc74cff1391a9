import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { MANIFEST } from '../entry-points.ts'
import { outsideOfCode, rewriteLinks, sitePath } from './links.ts'

/** A page of the site. */
export interface Page {
  /** Its path on the site, such as `docs/api.md`. */
  path: string
  /** Its Markdown. */
  text: string
  /** Its place in the sidebar. */
  group: string
}

/** The guides by group, in the order of the sidebar; all others follow in the last group before the recipes. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  Start: [
    'docs/how-it-works.md',
    'introduction.md',
    ...guides('is-this-right-for-me choose-your-rates mounting options api command-line'),
  ],
  Guides: [
    ...guides('client testing banks writing-providers-and-stores'),
    ...guides('agents keys-and-limits monitoring run-it freshness numbers'),
  ],
}

function guides(names: string): string[] {
  return names.split(' ').map((name) => `docs/${name}.md`)
}

const FOLDERS: Readonly<Record<string, string>> = {
  'docs/recipes/': 'Recipes',
  'docs/migrating/': 'Migrating',
}

/** The groups in the order of the sidebar. */
export const GROUPS: readonly string[] = ['Start', 'Guides', 'Recipes', 'Migrating', 'Reference']

/** Returns the guides of the repository at `root`, sorted as in the sidebar. */
export function readGuides(root: string): Page[] {
  const files = repositoryFiles()
  const found = globSync('{README,CHANGELOG,docs/**/*}.md', { cwd: root }).map((name) => {
    const source = name.replaceAll('\\', '/')
    const path = sitePath(source) ?? source
    const text = rewriteLinks(readFileSync(join(root, source), 'utf8'), source, { root, files })
    return { path, text: escapeTemplates(text), group: groupOf(path) }
  })
  const order = [...Object.values(GUIDES).flat(), '']
  const rank = ({ path }: Page): number => {
    const index = order.indexOf(path)
    return path.endsWith('/index.md') ? -1 : index < 0 ? order.length : index
  }
  return found.toSorted((one, other) => rank(one) - rank(other) || (one.path < other.path ? -1 : 1))
}

function groupOf(path: string): string {
  if (path === 'changelog.md') return 'Reference'
  const [name] = Object.entries(GUIDES).find(([, paths]) => paths.includes(path)) ?? []
  const [, folder] = Object.entries(FOLDERS).find(([prefix]) => path.startsWith(prefix)) ?? []
  return name ?? folder ?? 'Guides'
}

/** Returns the URL of the files of the repository that package.json names; undefined if it names none. */
function repositoryFiles(): string | undefined {
  const url = MANIFEST.repository?.url
  return url && `${url.replace(/^git\+/, '').replace(/\.git$/, '')}/blob/main`
}

/** Vue would read two braces as a template. */
function escapeTemplates(text: string): string {
  return outsideOfCode(text, (prose) => prose.replaceAll('{{', '&#123;&#123;'))
}

/** Returns the first heading of a page, as text. */
export function titleOf({ text }: Pick<Page, 'text'>): string {
  return plain(/^# (.*)$/m.exec(text)?.[1] ?? '')
}

/** Returns the first sentence of a page, as text. */
export function summaryOf({ text }: Pick<Page, 'text'>): string {
  const [, paragraph = ''] = /^# .*\n\n((?:[^\n]|\n(?!\n))*)/m.exec(text) ?? []
  const line = plain(paragraph.replace(/^#+ /, '').replaceAll(/\s+/g, ' '))
  return /^.*?[.:](?= |$)/.exec(line)?.[0].replace(/:$/, '.') ?? line
}

function plain(text: string): string {
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '')
}
