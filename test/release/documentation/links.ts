import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import { ROOT } from '../../system/root.ts'
import { readPage } from './page.ts'
import type { Page } from './page.ts'

/** The links of a page that lead to no file, no folder or no heading of the project; those to elsewhere are not looked at. */
export function brokenLinks(page: Page): string[] {
  return linksOf(page).filter((target) => !leadsSomewhere(page, target))
}

/** The targets of the links of a page, but for those that have a scheme. */
export function linksOf({ prose }: Page): string[] {
  const text = prose.join('\n').replaceAll(/(`+)[^`](?:[^]*?[^`])??\1(?!`)/g, '')
  const inline = /\]\(\s*<?([^)\s>]+)/g
  const reference = /^ {0,3}\[[^\]]+\]:\s*(\S+)/gm
  const html = /<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]+)"/g
  const found = [inline, reference, html].flatMap((form) => [...text.matchAll(form)])
  return found.map(([, target = '']) => target).filter((target) => !/^(?:\w+:|\/\/)/.test(target))
}

function leadsSomewhere({ name, text }: Page, target: string): boolean {
  const [path = '', anchor] = target.split('#').map(decodeURIComponent)
  const file = path === '' ? join(ROOT, name) : join(ROOT, dirname(name), path)
  // What is outside the project is not there for a reader.
  if (relative(ROOT, file).startsWith('..') || (path !== '' && !existsSync(file))) return false
  if (anchor === undefined) return true
  if (path === '') return anchorsOf(readPage(name, text)).includes(anchor)
  if (!statSync(file).isFile() || !file.endsWith('.md')) return false
  return anchorsOf(readPage(path, readFileSync(file, 'utf8'))).includes(anchor)
}

/** The anchors of a page's headings, as GitHub makes them: a second one of the same name ends with `-1`. */
function anchorsOf({ prose }: Page): string[] {
  const seen = new Map<string, number>()
  return prose.flatMap((line) => {
    const [, heading] = /^ {0,3}#{1,6} +(.*?)(?: +#+)? *$/.exec(line) ?? []
    if (heading === undefined) return []
    const slug = slugOf(heading)
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return [count === 0 ? slug : `${slug}-${count}`]
  })
}

function slugOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}
