import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

import { DISCLAIMER } from '../records/latest.ts'

const SOURCES = new URL('../explorer/', import.meta.url)

/** Browsers from 2024 on. */
const TARGET = ['chrome122', 'firefox124', 'safari17.4']

/** The source of a module that has the explorer page and the policy that it is served with. */
export async function makeExplorerPage(): Promise<string> {
  const [style, script] = await Promise.all([bundle('page.css'), bundle('main.ts')])
  const template = readFileSync(new URL('page.html', SOURCES), 'utf8').replace(/\n\s*/g, '\n')
  const html = fill(template, {
    '<style></style>': style,
    '<script></script>': script,
    '<span class="disclaimer"></span>': DISCLAIMER,
  })
  return [
    '// Made of src/explorer/ by `npm run generate`.',
    `export const contentSecurityPolicy: string = ${JSON.stringify(policyFor({ style, script }))}`,
    `export const html: string = ${JSON.stringify(html)}`,
    '',
  ].join('\n')
}

/** The file `name` with all that it imports, as small as it gets. */
async function bundle(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(name, SOURCES))],
    bundle: true,
    minify: true,
    format: 'iife',
    charset: 'utf8',
    legalComments: 'none',
    target: TARGET,
    write: false,
  })
  return outputFiles.map(({ text }) => text.trim()).join('')
}

/** `template` with each text between the tags of its empty element, of which there is one. */
function fill(template: string, texts: Record<string, string>): string {
  return Object.entries(texts).reduce((html, [empty, text]) => {
    const parts = html.split(empty)
    if (parts.length !== 2) throw new Error(`The page is to have one ${empty}`)
    return parts.join(empty.replace('><', () => `>${text}<`))
  }, template)
}

/** Lets the page run its own style and script, ask its own origin, and do nothing else. */
function policyFor({ style, script }: { style: string; script: string }): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "connect-src 'self'",
    // The icon, without which browsers ask the app for one.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** How a policy names an inline text that may be there (CSP Level 3 §2.3.1). */
function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
