import manifest from 'ratesmith/package.json' with { type: 'json' }

/** The text of the OpenAPI document. */
export function makeOpenApi(): string {
  const document = {
    openapi: '3.1.1',
    info: { title: 'ratesmith', version: manifest.version },
    servers: [{ url: '/api' }],
    paths: {},
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
