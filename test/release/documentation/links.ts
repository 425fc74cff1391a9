import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import { ROOT } from '../../system/root.ts'
import { openPage } from './page.ts'
import type { Page } from './page.ts'

/** Returns the targets of a page's links, without those that have a scheme. */
export function linksOf({ prose }: Page): string[] {
  const text = prose.join('\n').replaceAll(/(`+)[^`](?:[^]*?[^`])??\1(?!`)/g, '')
  const inline = /\]\(\s*<?([^)\s>]+)/g
  const reference = /^ {0,3}\[[^\]]+\]:\s*(\S+)/gm
  const html = /<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]+)"/g
  const found = [inline, reference, html].flatMap((form) => [...text.matchAll(form)])
  return found.map(([, target = '']) => target).filter((target) => !/^(?:\w+:|\/\/)/.test(target))
}

/** Returns whether a link leads to no file, folder or heading of the project. */
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
