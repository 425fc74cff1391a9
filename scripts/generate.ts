import { writeFileSync } from 'node:fs'

import manifest from 'ratesmith/package.json' with { type: 'json' }

import { makeExplorerPage } from './explorer-page.ts'
import { createDocument } from './openapi/document.ts'

const FOLDER = new URL('../src/generated/', import.meta.url)

const WIDTH = 100

/** Returns the text of every file in `src/generated/`, by file name. */
export async function generatedFiles(): Promise<Record<string, string>> {
  return {
    'explorer-page.ts': await makeExplorerPage(),
    'openapi.json': await makeOpenApi(),
  }
}

/** Returns the text of the OpenAPI document. */
async function makeOpenApi(): Promise<string> {
  return `${toText(await createDocument(manifest.version))}\n`
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

// Tests import this module without running it.
if (import.meta.main) {
  for (const [name, text] of Object.entries(await generatedFiles())) {
    writeFileSync(new URL(name, FOLDER), text)
  }
}
