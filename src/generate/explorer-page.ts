import { createHash } from 'node:crypto'

/** The source of a module that has the explorer page and the policy that it is served with. */
export async function makeExplorerPage(): Promise<string> {
  const style = 'body { font-family: system-ui }'
  const html = `<!doctype html><html lang="en"><title>ratesmith</title><style>${style}</style></html>`
  const contentSecurityPolicy = `default-src 'none'; style-src '${hashOf(style)}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  return [
    '// Made of src/explorer/ by `npm run generate`.',
    `export const contentSecurityPolicy: string = ${JSON.stringify(contentSecurityPolicy)}`,
    `export const html: string = ${JSON.stringify(html)}`,
    '',
  ].join('\n')
}

/** How a policy names an inline text that may be there (CSP Level 3 §2.3.1). */
function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
