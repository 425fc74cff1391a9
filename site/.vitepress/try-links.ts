/** The parts of a token of markdown-it that are used here. */
interface Token {
  type: string
  content: string
}

type Rule = (tokens: Token[], index: number, ...rest: unknown[]) => string

/** The parts of markdown-it that are used here. */
export interface Markdown {
  renderer: { rules: Record<string, Rule | undefined> }
  utils: { escapeHtml: (text: string) => string }
}

/** A request that the service worker answers without more parameters. */
const REQUEST =
  /^(?:GET )?\/api\/(v1\/(?:latest|currencies|status|openapi\.json)(?:\?[^\s…<>{}]*)?|rates(?:\?[^\s…<>{}]*)?|(?:v1\/)?(?:convert|history)\?[^\s…<>{}]+)$/

/** A request in a command of a shell. */
const COMMAND = /127\.0\.0\.1:\d+(\/api\/[^\s'"|…<>{}]+)/g

/** Links requests to their live responses, in inline code and after blocks of commands. */
export function addTryLinks({ renderer: { rules }, utils }: Markdown, base: string): void {
  const { code_inline: inline, fence } = rules
  const toLink = (path: string, html: string): string =>
    `<a class="try" href="${utils.escapeHtml(base + path)}" target="_blank" rel="noopener" title="Open the live response">${html}</a>`
  if (!inline || !fence) throw new Error('markdown-it has no rules for code')
  rules['code_inline'] = (tokens, index, ...rest) => {
    const html = inline(tokens, index, ...rest)
    const [, path] = REQUEST.exec(tokens[index]?.content ?? '') ?? []
    return path === undefined || isInLink(tokens, index) ? html : toLink(`api/${path}`, html)
  }
  rules['fence'] = (tokens, index, ...rest) => {
    const paths = Array.from(
      (tokens[index]?.content ?? '').matchAll(COMMAND),
      ([, path = '']) => path,
    ).filter((path) => REQUEST.test(path))
    const links = [...new Set(paths)].map((path) =>
      toLink(path.slice(1), `<code>${utils.escapeHtml(path)}</code>`),
    )
    const html = fence(tokens, index, ...rest)
    return links.length > 0 ? `${html}<p class="tries">Try it: ${links.join(', ')}</p>` : html
  }
}

function isInLink(tokens: readonly Token[], index: number): boolean {
  const before = tokens.slice(0, index).map(({ type }) => type)
  return before.lastIndexOf('link_open') > before.lastIndexOf('link_close')
}
