import { DISCLAIMER } from '../src/api/latest.ts'
import { withCards } from './banks.ts'
import { createDocument } from './openapi/document.ts'
import { toolSchemas } from './openapi/tools.ts'
import { build } from 'esbuild'
import type { BuildOptions, Plugin } from 'esbuild'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import manifest from 'ratesmith/package.json' with { type: 'json' }

const FOLDER = new URL('../src/generated/', import.meta.url)

const BANKS_PAGE = new URL('../docs/banks.md', import.meta.url)

const WIDTH = 100

/** Returns the text of every file in `src/generated/`, by file name. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const document = await createDocument(manifest.version)
  const patch = patchOf(document, await createDocument(manifest.version, true))
  return {
    'explorer-page.ts': await makeExplorerPage(),
    'explorer-api.ts': await makeExplorerApi(),
    'openapi.json': `${toText(document)}\n`,
    'openapi-access.json': `${toText(patch)}\n`,
    'mcp-tools.json': `${toText({ version: manifest.version, schemas: toolSchemas() })}\n`,
  }
}

/** Returns the changes from one value to another, as a JSON Merge Patch (RFC 7396): what keys and limits change in the document. */
function patchOf(before: unknown, after: unknown): unknown {
  if (JSON.stringify(before) === JSON.stringify(after)) return undefined
  if (!isObject(before) || !isObject(after)) return after
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const changed = Object.entries(after).flatMap(([key, value]) => {
    const patch = patchOf(before[key], value)
    return patch === undefined ? [] : [[key, patch]]
  })
  return Object.fromEntries([...removed.map((key) => [key, null]), ...changed])
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Formats JSON readably: objects and arrays that fit on one line stay on one. */
function toText(value: unknown, indent = ''): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return line
  if (indent.length + line.length <= WIDTH) return line
  const deeper = `${indent} `
  const items = Array.isArray(value)
    ? value.map((item) => toText(item, deeper))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${toText(item, deeper)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${items.map((item) => deeper + item).join(',\n')}\n${indent}${close}`
}

const SOURCES = new URL('../explorer/', import.meta.url)

/** Browsers released since May 2024. */
const TARGET = ['chrome123', 'firefox125', 'safari17.5']

/** Returns the source of a module with the explorer page and its content security policy. */
export async function makeExplorerPage(): Promise<string> {
  const [style, theme, script] = await Promise.all([
    bundle('page.css'),
    bundle('theme.ts'),
    bundle('main.ts'),
  ])
  const template = minified(readFileSync(new URL('page.html', SOURCES), 'utf8'))
  const html = fill(template, {
    '<style></style>': style,
    '<script data-theme></script>': theme,
    '<script></script>': script,
    '<footer class=disclaimer></footer>': DISCLAIMER,
  })
  return moduleOf({ contentSecurityPolicy: policyFor(style, [theme, script]), html })
}

function moduleOf(texts: Readonly<Record<string, string>>): string {
  const exported = Object.entries(texts).map(
    ([name, text]) => `export const ${name}: string = ${JSON.stringify(text)}\n`,
  )
  return `// Generated from explorer/ by \`npm run generate\`.\n${exported.join('')}`
}

/** Elements around which white space shows nothing. */
const BLOCKS =
  'body|dd|div|dl|dt|fieldset|footer|form|h1|h2|head|header|html|li|link|main|meta|nav|noscript|option|p|path|script|section|style|table|tbody|template|th|thead|title|tr|ul'

/**
 * Removes indentation, lines that show nothing, and what HTML allows to omit: quotes around simple values, slashes of empty
 * elements outside of pictures, and the ends of items and of parts of tables.
 */
function minified(html: string): string {
  return html
    .replace(/\n\s*/g, '\n')
    .replace(new RegExp(String.raw`\n(?=</?(?:${BLOCKS})\b)`, 'g'), '')
    .replace(new RegExp(String.raw`(</?(?:${BLOCKS})\b[^>]*>)\n`, 'g'), '$1')
    .replace(/="([\w./-]*[\w.-])"/g, '=$1')
    .replace(/(<(?:input|link|meta)\b[^>]*)\s\/>/g, '$1>')
    .replace(/<\/(?:dd|dt|li|option|tbody|td|th|thead|tr)>/g, '')
}

/** Returns the source of a module with the second script of the page, which has its style. */
async function makeExplorerApi(): Promise<string> {
  const style = await bundle('more.css')
  const script = await bundle('more.ts', {
    format: 'esm',
    define: { MORE_STYLE: JSON.stringify(style) },
  })
  return moduleOf({ script })
}

/** Leaves out the checks of options at run time: types check the constant options of the page. */
const withoutChecks: Plugin = {
  name: 'without-checks',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]known-options\.ts$/ }, () => ({
      contents: 'export const assertKnownOptions = () => {}',
    }))
  },
}

async function bundle(name: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(name, SOURCES))],
    bundle: true,
    minify: true,
    format: 'iife',
    charset: 'utf8',
    legalComments: 'none',
    target: TARGET,
    plugins: [withoutChecks],
    ...options,
    write: false,
  })
  return outputFiles.map(({ text }) => text.trim()).join('')
}

function fill(template: string, texts: Record<string, string>): string {
  return Object.entries(texts).reduce((html, [empty, text]) => {
    const parts = html.split(empty)
    if (parts.length !== 2)
      throw new Error(`expected one ${empty} in the page, found ${parts.length - 1}`)
    return parts.join(empty.replace('><', () => `>${text}<`))
  }, template)
}

function policyFor(style = '', scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    // The inline scripts by hash; from the origin, the second script, which has no fixed address.
    `script-src ${scripts.map((script) => `'${hashOf(script)}'`).join(' ')} 'self'`,
    `style-src '${hashOf(style)}'`,
    "connect-src 'self'",
    // For the icon; without one, browsers request /favicon.ico.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** Returns the source expression of an allowed inline text (CSP Level 3 §2.3.1). */
function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

// Tests import this module without running it.
if (import.meta.main) {
  for (const [name, text] of Object.entries(await generatedFiles())) {
    writeFileSync(new URL(name, FOLDER), text)
  }
  writeFileSync(BANKS_PAGE, await withCards(readFileSync(BANKS_PAGE, 'utf8')))
}
