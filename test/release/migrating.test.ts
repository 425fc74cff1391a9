import { beforeAll, describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { frankfurter } from 'ratesmith/compat/frankfurter'
import { fakeClock, fakeProviders } from 'ratesmith/testing'

import { rowsOf } from '../system/markdown-rows.ts'
import { openPage } from './documentation/page.ts'

type Fetch = (request: Request) => Promise<Response>

const page = openPage('docs/migrating.md')
const services = page.text
  .split(/^## /m)
  .map(toService)
  .filter(({ module }) => module !== '')

describe('the page on migrating', () => {
  it('has a route and three kinds of tables for each of five services', () => {
    expect(services).toHaveLength(5)
    for (const { requests, fields, refusals } of services) {
      expect([requests, fields, refusals].map(({ length }) => length)).not.toContain(0)
    }
  })
})

describe.each(services)('migrating from $name', ({ module, requests, fields, refusals }) => {
  let route: Fetch

  beforeAll(async () => {
    const now = fakeClock('2026-11-20T18:00:00Z')
    const handler = createRatesHandler({ now, providers: fakeProviders() })
    const [mount]: (typeof frankfurter)[] = Object.values(await import(module))
    route = mount?.(handler, { now }) ?? handler
  })

  async function ask(path = '') {
    const response = await route(new Request(`http://localhost${path}`))
    const body: unknown = await response.json()
    return { status: response.status, body }
  }

  it.each(requests)('the route answers %s, and the handler %s', async (there, here) => {
    const paths = [...pathsIn(there), ...pathsIn(here)]
    expect(paths).toHaveLength(2)
    for (const path of paths) expect(await ask(path), path).toMatchObject({ status: 200 })
  })

  it.each(fields)('%s and %s have the fields %s and %s', async (there, here, theirs, ours) => {
    const found = [fieldOf((await ask(here)).body, ours)]
    if (!isNothing(theirs)) found.push(fieldOf((await ask(there)).body, theirs))
    expect(found).not.toContain(undefined)
  })

  it.each(refusals)('the route answers %s with %s, and the handler %s with %s', async (...row) => {
    const [there, theirs, here, ours] = row
    const old = await ask(pathsIn(there)[0])
    const [, status = old.status, example = ''] = /^(?:`(\d+)` )?`(\{.*\})`/.exec(theirs) ?? []
    expect(old.status).toBe(Number(status))
    expect(shapeOf(old.body)).toEqual(shapeOf(JSON.parse(example)))
    const [, expected, code] = /`(\d+)(?: (\w+))?`/.exec(ours) ?? []
    const body = code ? { error: { code } } : {}
    expect(await ask(pathsIn(here)[0])).toMatchObject({ status: Number(expected), body })
  })
})

/** Returns the content of a section: the name of a service, the module of its route, and the rows of its tables. */
function toService(section: string) {
  const tables = section.matchAll(/^(?:Fields of `(\S+)`.* and of `(\S+)`.*:\n\n)?((?:\|.*\n)+)/gm)
  const service = {
    name: section.slice(0, section.indexOf('\n')),
    module: /^Route: .* of `(\S+)`/m.exec(section)?.[1] ?? '',
    requests: [] as [string, string][],
    fields: [] as [string, string, string, string][],
    refusals: [] as [string, string, string, string][],
  }
  for (const [, there, here, table = ''] of tables) {
    for (const [one = '', two = '', three = '', four = ''] of rowsOf(table)) {
      if (isNothing(two)) continue
      if (there && here) service.fields.push([there, here, one, two])
      else if (four) service.refusals.push([one, two, three, four])
      else service.requests.push([one, two])
    }
  }
  return service
}

function isNothing(cell: string): boolean {
  return cell.startsWith('–')
}

/** Returns the paths in code spans of a text. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`(\/[^`]+)`/g)].map(([, path = '']) => path)
}

/** Returns the field at a path such as `points.0.r`. */
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
