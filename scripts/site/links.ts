import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'

/** Returns the anchor of a heading, as GitHub makes it. */
export function headingSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

/** Returns the path on the site of a page of the repository; undefined if the site has no such page. */
export function sitePath(path: string): string | undefined {
  if (path === 'README.md') return 'introduction.md'
  if (path === 'CHANGELOG.md') return 'changelog.md'
  if (!path.startsWith('docs/')) return undefined
  return path.replace(/(^|\/)README\.md$/, '$1index.md')
}

/** A link or picture; its text may have code, but no other link. */
const LINK = /(!?)\[((?:`[^`\n]*`|[^\][`])*)\]\(([^\s()]+)\)/g

/** Where links outside of the site lead. */
export interface LinkTargets {
  /** Folder of the repository. */
  root: string
  /** URL of the files of the repository; without it, such links become text. */
  files?: string | undefined
}

/** Returns the text of the page at `path` in the repository, with links as the site has them. */
export function rewriteLinks(text: string, path: string, targets: LinkTargets): string {
  return outsideOfCode(text, (prose) =>
    prose.replaceAll(LINK, (whole: string, mark: string, label: string, link: string) => {
      if (/^(#|[a-z]+:)/.test(link)) return whole
      const href = siteLink(link, path, targets)
      return href === undefined ? label : `${mark}[${label}](${href})`
    }),
  )
}

function siteLink(link: string, path: string, { root, files }: LinkTargets): string | undefined {
  const [file = '', anchor] = link.split('#')
  const target = posix.join(posix.dirname(path), file)
  if (!existsSync(join(root, target))) throw new Error(`${path} links to ${link}, which is missing`)
  const isPicture = target.startsWith('docs/pictures/')
  const page = isPicture ? target : sitePath(target)
  const end = anchor === undefined ? '' : `#${anchor}`
  if (page === undefined) return files && `${files}/${target}${end}`
  const from = posix.dirname(sitePath(path) ?? path)
  return `./${posix.relative(from, page)}${end}`
}

/** Changes the text between blocks of code. */
export function outsideOfCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^ *```[^]*?^ *```$)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('')
}
