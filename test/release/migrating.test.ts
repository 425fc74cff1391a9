import { beforeAll, describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { fixer } from 'ratesmith/compat/fixer'
import { fakeClock, fakeProviders } from 'ratesmith/testing'

import { rowsOf } from '../system/markdown-rows.ts'
import { followedPages } from './documentation/page.ts'
import type { Page } from './documentation/page.ts'

type Fetch = (request: Request) => Promise<Response>

const SECTIONS = ['What changes', 'Requests', 'Fields', 'Errors', 'Compatibility route']

const pages = followedPages().filter(({ name }) => name.startsWith('docs/migrating/'))
const services = pages.filter(({ name }) => !name.endsWith('/README.md')).map(toService)
const first = pages.find(({ name }) => name.endsWith('/README.md'))

it('the pages on migrating have the same sections and tables, and rows on the first page', () => {
  expect(services).toHaveLength(3)
  for (const { name, module, sections, requests, fields, refusals } of services) {
    expect(sections, name).toEqual(SECTIONS)
    expect([requests, fields, refusals].map(({ length }) => length)).not.toContain(0)
    expect(first?.text).toContain(`](${name.replace('docs/migrating/', '')})`)
    expect(first?.text).toContain(`| \`${module}\` `)
  }
})

describe('the requests for services without a route', () => {
  const now = fakeClock('2026-11-20T18:00:00Z')
  const handler = createRatesHandler({ now, providers: fakeProviders() })
  const rows = rowsOf(sectionsOf(first).get('Frankfurter v2 and ExchangeRate-API') ?? '')

  it('are in a table', () => {
    expect(rows.length).toBeGreaterThan(5)
  })

  it.each(rows)('has for %s a request that the handler serves: %s', async (_old, ours = '') => {
    const [path = '', ...others] = pathsIn(ours)
    expect(others).toEqual([])
    const response = await handler(new Request(`http://localhost${path}`))
    expect(response.status).toBe(200)
  })
})

describe.each(services)('$name', ({ module, requests, fields, refusals }) => {
  let route: Fetch

  beforeAll(async () => {
    const now = fakeClock('2026-11-20T18:00:00Z')
    const [create]: (typeof fixer)[] = Object.values(await import(module))
    route = createRatesHandler({ now, providers: fakeProviders(), routes: create?.() })
  })

  async function request(path = '') {
    const response = await route(new Request(`http://localhost${path}`))
    const body: unknown = await response.json()
    return { status: response.status, body }
  }

  it.each(requests)('serves %s by the route, and %s by the handler', async (old, ours) => {
    const paths = [...pathsIn(old), ...pathsIn(ours)]
    expect(paths).toHaveLength(2)
    for (const path of paths) expect(await request(path), path).toMatchObject({ status: 200 })
  })

  it.each(fields)('finds in %s and %s the fields %s and %s', async (oldPath, path, old, ours) => {
    const found = [fieldOf((await request(path)).body, ours)]
    if (!isNothing(old)) found.push(fieldOf((await request(oldPath)).body, old))
    expect(found).not.toContain(undefined)
  })

  it.each(refusals)('serves %s with %s by the route, and %s with %s', async (...row) => {
    const [oldPath, oldResponse, path, ours] = row
    const old = await request(pathsIn(oldPath)[0])
    const [, status = old.status, example = ''] = /^(?:`(\d+)` )?`(\{.*\})`/.exec(oldResponse) ?? []
    expect(old.status).toBe(Number(status))
    expect(shapeOf(old.body)).toEqual(shapeOf(JSON.parse(example)))
    const [, expected, code] = /`(\d+)(?: (\w+))?`/.exec(ours) ?? []
    const body = code ? { error: { code } } : {}
    expect(await request(pathsIn(path)[0])).toMatchObject({ status: Number(expected), body })
  })
})

function sectionsOf(page: Page | undefined): Map<string, string> {
  const [, ...parts] = page?.text.split(/^## /m) ?? []
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part]))
}

function toService(page: Page) {
  const { name } = page
  const sections = sectionsOf(page)
  const sectionOf = (title: string): string => sections.get(title) ?? ''
  const fields = sectionOf('Fields')
  const tables = [...fields.matchAll(/^From `(\S+)`.* to `(\S+)`:\n\n((?:\|.*\n)+)/gm)]
  if (tables.length !== fields.match(/^\| -/gm)?.length) {
    throw new Error(`${name}: expected "From … to …:" on one line before each table of Fields`)
  }

  return {
    name,
    sections: [...sections.keys()],
    module: /`(ratesmith\/compat\/[\w-]+)`/.exec(sectionOf('Compatibility route'))?.[1] ?? '',
    requests: rowsOf(sectionOf('Requests'))
      .filter(([, ours = '']) => !isNothing(ours))
      .map(([old = '', ours = '']) => [old, ours] as const),
    fields: tables.flatMap(([, oldPath = '', path = '', table = '']) =>
      rowsOf(table)
        .filter(([, ours = '']) => !isNothing(ours))
        .map(([old = '', ours = '']) => [oldPath, path, old, ours] as const),
    ),
    refusals: rowsOf(sectionOf('Errors')).map(
      ([old = '', response = '', ours = '', expected = '']) =>
        [old, response, ours, expected] as const,
    ),
  }
}

function isNothing(cell: string): boolean {
  return cell.startsWith('–')
}

function pathsIn(text: string): string[] {
  return [...text.matchAll(/`(\/[^`]+)`/g)].map(([, path = '']) => path)
}

function fieldOf(body: unknown, cell: string): unknown {
  const path = cell.replaceAll('`', '').split('.')
  return path.reduce<unknown>((parent, key) => Object(parent)[key], body)
}

/** Replaces sentences in `value`, but not codes. */
function shapeOf(value: unknown): unknown {
  if (typeof value === 'string') return /^[\w-]+$/.test(value) ? value : 'a sentence'
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
}
