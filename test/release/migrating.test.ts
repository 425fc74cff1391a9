import { beforeAll, describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandlerOptions } from 'ratesmith'
import type { fixer } from 'ratesmith/compat/fixer'
import { fakeClock, fakeProviders } from 'ratesmith/testing'

import { rowsOf } from '../system/markdown-rows.ts'
import { openPage } from './documentation/page.ts'

const SERVICES = ['fixer', 'frankfurter', 'open-exchange-rates']

function open(options: RatesHandlerOptions = {}) {
  const now = fakeClock('2026-11-20T18:00:00Z')
  const handler = createRatesHandler({ now, providers: fakeProviders(), ...options })
  return async (path = '') => {
    const response = await handler(new Request(`http://localhost${path}`))
    const body: unknown = await response.json()
    return { status: response.status, body }
  }
}

function sectionsOf(name: string): Record<string, string> {
  const [, ...parts] = openPage(`docs/migrating/${name}.md`).text.split(/^## /m)
  return Object.fromEntries(parts.map((part) => [part.slice(0, part.indexOf('\n')), part]))
}

const isNothing = (cell = ''): boolean => cell.startsWith('–')

const pathsIn = (text = ''): string[] =>
  Array.from(text.matchAll(/`(\/[^`]+)`/g), ([, path = '']) => path)

const fieldOf = (body: unknown, cell: string): unknown =>
  cell
    .replaceAll('`', '')
    .split('.')
    .reduce<unknown>((parent, key) => Object(parent)[key], body)

/** Replaces sentences in `value`, but not codes. */
const shapeOf = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, inner) =>
    typeof inner === 'string' && !/^[\w-]+$/.test(inner) ? 'a sentence' : inner,
  )

it('the requests for services without a route are served by the handler', async () => {
  const request = open()
  const rows = rowsOf(sectionsOf('README')['Frankfurter v2 and ExchangeRate-API'] ?? '')
  expect(rows.length).toBeGreaterThan(5)
  for (const [, ours] of rows) {
    const paths = pathsIn(ours)
    expect(paths, ours).toHaveLength(1)
    expect(await request(paths[0]), ours).toMatchObject({ status: 200 })
  }
})

describe.each(SERVICES)('the page on migrating from %s', (name) => {
  const { Requests = '', Fields = '', Errors = '' } = sectionsOf(name)
  let request: ReturnType<typeof open>

  beforeAll(async () => {
    const path: string = `ratesmith/compat/${name}`
    const [create]: (typeof fixer)[] = Object.values(await import(path))
    request = open({ routes: create?.() })
  })

  const requests = rowsOf(Requests).filter(([, ours]) => !isNothing(ours))

  it.each(requests)('has %s, served by the route, and %s, by the handler', async (old, ours) => {
    const paths = [...pathsIn(old), ...pathsIn(ours)]
    expect(paths).toHaveLength(2)
    for (const path of paths) expect(await request(path), path).toMatchObject({ status: 200 })
  })

  const tables = [...Fields.matchAll(/^From `(\S+)`.* to `(\S+)`:\n\n((?:\|.*\n)+)/gm)]

  it('has tables of fields', () => {
    expect(tables.length).toBeGreaterThan(0)
    expect(tables).toHaveLength(Fields.match(/^\| -/gm)?.length ?? 0)
  })

  it.each(tables.map(([, ...table]) => table))(
    'has the fields of %s and %s',
    async (oldPath, path, table = '') => {
      const [theirs, own] = [await request(oldPath), await request(path)]
      for (const [old = '', ours = ''] of rowsOf(table).filter(([, each]) => !isNothing(each))) {
        expect(fieldOf(own.body, ours), ours).toBeDefined()
        expect(isNothing(old) || fieldOf(theirs.body, old), old).toBeDefined()
      }
    },
  )

  it.each(rowsOf(Errors))('has for %s the response %s, and for %s %s', async (...row) => {
    const [oldPath, oldResponse = '', path, ours = ''] = row
    const old = await request(pathsIn(oldPath)[0])
    const [, status = old.status, example = ''] = /^(?:`(\d+)` )?`(\{.*\})`/.exec(oldResponse) ?? []
    expect(old.status).toBe(Number(status))
    expect(shapeOf(old.body)).toEqual(shapeOf(JSON.parse(example)))
    const [, expected, code] = /`(\d+)(?: (\w+))?`/.exec(ours) ?? []
    const body = code ? { error: { code } } : {}
    expect(await request(pathsIn(path)[0])).toMatchObject({ status: Number(expected), body })
  })
})
