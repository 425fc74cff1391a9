import document from '../../src/generated/openapi.json' with { type: 'json' }
import type { Page } from './pages.ts'

/** Returns the page of all operations, each with an element that `site/live/operations.ts` fills when it is opened. */
export function operationsPage(): Page {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
  )
  const sections = document.tags.flatMap(({ name, description }) => [
    `## ${name}\n\n${description}`,
    ...operations
      .filter(({ tags }) => tags.includes(name))
      .map(
        ({ method, path, summary, description }) => `### ${summary}

\`${method.toUpperCase()} /api${path}\`

${description}

<details class="details custom-block operation" data-operation="${method}-${path}"><summary>Parameters, responses and a request of your own</summary></details>`,
      ),
  ])
  const head =
    '# API reference\n\nEvery endpoint, generated from the OpenAPI document (`GET /api/v1/openapi.json`). Requests from this page are answered in a service worker, **on synthetic rates**.'
  return {
    path: 'endpoints.md',
    text: `${[head, ...sections].join('\n\n')}\n`,
    group: 'Reference',
  }
}
