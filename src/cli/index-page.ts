import type { RawRequest } from '../index.ts'

export interface IndexOptions {
  basePath: string
  explorer: boolean
  needsKey: boolean
}

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}'

/** Returns the page at `/` of a server: HTML to browsers, else text. */
export async function indexPage(request: RawRequest, options: IndexOptions): Promise<Response> {
  const isBrowser = /\btext\/html\b/i.test(request.header('accept') ?? '')
  const body = isBrowser ? toHtml(options) : toText(options)
  return new Response(body, {
    headers: {
      'content-type': `text/${isBrowser ? 'html' : 'plain'}; charset=utf-8`,
      'content-security-policy': `default-src 'none'; style-src 'sha256-${await digestOf(STYLE)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      vary: 'Accept',
    },
  })
}

function linksOf({ basePath, explorer }: IndexOptions): [path: string, text: string][] {
  const links: [string, string][] = [
    [`${basePath}/v1/latest?base=EUR&symbols=USD,GBP,JPY`, 'latest rates'],
    [`${basePath}/v1/convert?from=USD&to=EUR&amount=100`, 'conversion'],
    [`${basePath}/v1/history?from=USD&to=EUR&period=1M`, 'history'],
    [`${basePath}/v1/currencies`, 'currencies'],
    [`${basePath}/v1/status`, 'status: age and sources of the data'],
    [`${basePath}/v1/openapi.json`, 'OpenAPI description'],
  ]
  return explorer
    ? [[`${basePath}/`, 'explorer: try every endpoint in the browser'], ...links]
    : links
}

const TITLE = 'Exchange rates over HTTP'

const KEY_NOTE = 'Requests need an API key: Authorization: Bearer <key>, or X-API-Key: <key>.'

function toText(options: IndexOptions): string {
  const links = linksOf(options)
  const width = Math.max(...links.map(([path]) => path.length))
  const lines = links.map(([path, text]) => `${path.padEnd(width)}  ${text}`)
  const note = options.needsKey ? [KEY_NOTE, ''] : []
  return [TITLE, '', ...note, ...lines, ''].join('\n')
}

function toHtml(options: IndexOptions): string {
  const items = linksOf(options).map(
    ([path, text]) => `<li><a href="${escaped(path)}">${escaped(path)}</a>: ${escaped(text)}`,
  )
  return [
    '<!doctype html>',
    `<html lang="en"><meta charset="utf-8"><title>${TITLE}</title>`,
    '<meta name="viewport" content="width=device-width">',
    `<style>${STYLE}</style>`,
    `<h1>${TITLE}</h1>`,
    ...(options.needsKey ? [`<p>${escaped(KEY_NOTE)}`] : []),
    '<ul>',
    ...items,
    '</ul>',
    '',
  ].join('\n')
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
}
