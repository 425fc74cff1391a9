import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Page } from './pages.ts'

interface Document {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, { tags: string[]; summary: string; description: string }>>
}

/** Returns the OpenAPI document of the package, as its handler serves it at `basePath`. */
export function openApiDocument(root: string, basePath: string): Document & { servers: object[] } {
  const text = readFileSync(join(root, 'src/generated/openapi.json'), 'utf8')
  return { ...JSON.parse(text), servers: [{ url: basePath }] }
}

/** Returns the page of all operations, each with an element that `site/live/operation-viewer.ts` fills when it is opened. */
export function operationsPage({ tags, paths }: Document): Page {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
  )
  const sections = tags.map((tag) => {
    const own = operations.filter((operation) => operation.tags.includes(tag.name))
    const parts = own.map(({ method, path, summary, description }) =>
      [
        `### ${summary}`,
        `\`${method.toUpperCase()} /api${path}\``,
        description,
        `<details class="details custom-block operation" data-operation="${method}-${path}"><summary>Parameters, responses and a request of your own</summary></details>`,
      ].join('\n\n'),
    )
    return [`## ${tag.name}`, tag.description, ...parts].join('\n\n')
  })
  const head =
    'Every endpoint, generated from the OpenAPI document (`GET /api/v1/openapi.json`). Requests from this page are answered in a service worker, **on synthetic rates**.'
  return {
    path: 'endpoints.md',
    text: `${['# API reference', head, ...sections].join('\n\n')}\n`,
    group: 'Reference',
  }
}
