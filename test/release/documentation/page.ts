import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from '../../system/root.ts'

/** A fenced block of a page. */
export interface Block {
  page: string
  /** The line of the page that opens it, from 1. */
  line: number
  /** What stands behind the fence: `ts`, or nothing. */
  language: string
  text: string
  /** The paragraph that it follows. */
  lead: string
}

/** A page of Markdown, taken apart. */
export interface Page {
  /** Its path from the root of the project. */
  name: string
  text: string
  blocks: Block[]
  /** Its lines with those of blocks left empty. */
  prose: string[]
}

/** The pages that are followed: the README and every guide. */
export function followedPages(): Page[] {
  return ['README.md', ...pagesIn('docs')].map(openPage)
}

/** Those and every other page whose links are to lead somewhere. */
export function linkedPages(): Page[] {
  const others = ['CHANGELOG.md', ...pagesIn('bench'), ...pagesIn('.github')]
  return [...followedPages(), ...others.map(openPage)]
}

/** The paths of the pages in a folder of the project, and in those below it. */
function pagesIn(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  const pages = names.filter((name) => name.endsWith('.md'))
  return pages.toSorted().map((name) => join(folder, name))
}

/** Reads a page of the project. */
function openPage(name: string): Page {
  return readPage(name, readFileSync(join(ROOT, name), 'utf8'))
}

/** Takes the text of a page apart; throws where a block has no end. */
export function readPage(name: string, text: string): Page {
  const blocks: Block[] = []
  const prose: string[] = []
  const lines = text.split('\n')
  let open: { block: Block; indent: string; fence: string; lines: string[] } | undefined
  for (const [index, line] of lines.entries()) {
    const [, indent = '', fence, language = ''] = /^( *)(`{3,}|~{3,}) *(.*?) *$/.exec(line) ?? []
    if (open && line.trim() === open.fence) {
      blocks.push({ ...open.block, text: `${open.lines.join('\n')}\n` })
      open = undefined
      prose.push('')
    } else if (open) {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line)
      prose.push('')
    } else if (fence !== undefined) {
      const block = { page: name, line: index + 1, language, text: '', lead: lastParagraph(prose) }
      open = { block, indent, fence, lines: [] }
      prose.push('')
    } else prose.push(line)
  }
  if (open) throw new Error(`${name}:${open.block.line}: the block has no end`)
  return { name, text, blocks, prose }
}

function lastParagraph(lines: readonly string[]): string {
  const end = lines.findLastIndex((line) => line.trim() !== '') + 1
  const start = lines.findLastIndex((line, index) => index < end && line.trim() === '') + 1
  return lines.slice(start, end).join('\n')
}
