import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from '../../system/root.ts'

/** A fenced block of a page. */
export interface Block {
  page: string
  /** The line of the opening fence, from 1. */
  line: number
  /** The word after the fence, `ts` for example, or an empty text. */
  language: string
  text: string
  /** The paragraph before the block. */
  lead: string
}

/** A page of Markdown. */
export interface Page {
  /** Path relative to the project root. */
  name: string
  text: string
  blocks: Block[]
  /** All lines, empty inside blocks. */
  prose: string[]
}

/** Returns the pages whose code is run: the README and every guide. */
export function followedPages(): Page[] {
  return ['README.md', ...pagesIn('docs')].map(openPage)
}

/** Returns the pages whose links are checked. */
export function linkedPages(): Page[] {
  const others = ['CHANGELOG.md', ...pagesIn('bench'), ...pagesIn('.github')]
  return [...followedPages(), ...others.map(openPage)]
}

function pagesIn(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  const pages = names.filter((name) => name.endsWith('.md'))
  return pages.toSorted().map((name) => join(folder, name))
}

/** Reads a page of the project. */
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

function lastParagraph(lines: readonly string[]): string {
  const end = lines.findLastIndex((line) => line.trim() !== '') + 1
  const start = lines.findLastIndex((line, index) => index < end && line.trim() === '') + 1
  return lines.slice(start, end).join('\n')
}
