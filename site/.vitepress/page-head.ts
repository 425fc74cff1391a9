/** The parts of the data of a page that are used here. */
export interface PageData {
  title: string
  relativePath: string
  frontmatter: { head?: [tag: string, attributes: Record<string, string>][] }
}

/** Adds the address of a page on the site at the URL `site`, and its Open Graph tags. */
export function addPageHead(page: PageData, site: string, description: string): void {
  const path = page.relativePath.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')
  const url = site + path
  const properties = {
    'og:type': 'website',
    'og:title': page.title,
    'og:description': description,
    'og:image': `${site}docs/pictures/explorer.png`,
    'og:url': url,
  }
  page.frontmatter.head = [
    ...(page.frontmatter.head ?? []),
    ['link', { rel: 'canonical', href: url }],
    ...Object.entries(properties).map(([property, content]): [string, Record<string, string>] => [
      'meta',
      { property, content },
    ]),
  ]
}
