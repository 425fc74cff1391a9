import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { rowsOf } from '../system/markdown-rows.ts'
import { run } from '../system/processes.ts'
import { ROOT } from '../system/root.ts'

/** An answer of a compatibility route, or of the handler behind it. */
interface Answer {
  status: number
  body: unknown
}

/** Asks the route that a file exports what is on its command line, at the moment of the page's examples. */
const PROGRAM = `
import { createRatesHandler } from 'ratesmith'
import { fakeClock, fakeProviders } from 'ratesmith/testing'
const [file, ...paths] = process.argv.slice(2)
const [route] = Object.values(await import(file))
const now = fakeClock('2026-11-20T18:00:00Z')
const app = route(createRatesHandler({ now, providers: fakeProviders() }), now)
const ask = async (path) => {
  const response = await app(new Request('http://localhost' + path))
  return [path, { status: response.status, body: await response.json() }]
}
console.log(JSON.stringify(await Promise.all(paths.map(ask))))
`

const page = readFileSync(join(ROOT, 'docs/migrating.md'), 'utf8')
const services = page
  .split(/^## /m)
  .map(toService)
  .filter(({ file }) => file !== '')

let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratesmith-migrating-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/ratesmith'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'ask.js'), PROGRAM)
  for (const [, name = '', code = ''] of page.matchAll(/^```ts\n\/\/ (as-\S+)\n(.*?)^```/gms)) {
    writeFileSync(join(folder, name), code)
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the page on migrating', () => {
  it('has a route and three kinds of tables for each of five services', () => {
    expect(services).toHaveLength(5)
    for (const { requests, fields, refusals } of services) {
      expect(requests.length).toBeGreaterThan(0)
      expect(fields.length).toBeGreaterThan(0)
      expect(refusals.length).toBeGreaterThan(0)
    }
  })
})

describe.each(services)('migrating from $name', ({ file, requests, fields, refusals, paths }) => {
  const answers = new Map<string, Answer>()

  beforeAll(async () => {
    for (const [path, answer] of await ask(file, paths)) answers.set(path, answer)
  })

  it.each(requests)('the route answers %s, and the handler %s', (there, here) => {
    const asked = [...pathsIn(there), ...pathsIn(here)]
    expect(asked).toHaveLength(2)
    for (const path of asked) expect(answers.get(path), path).toMatchObject({ status: 200 })
  })

  it.each(fields)('of %s and %s there are the fields %s and %s', (there, here, theirs, ours) => {
    const owed = isNothing(theirs) ? [] : [fieldOf(answers.get(there), theirs)]
    expect([fieldOf(answers.get(here), ours), ...owed]).not.toContain(undefined)
  })

  it.each(refusals)('the route answers %s with %s, and the handler %s with %s', (...row) => {
    const [there, theirs, here, ours] = row
    const [old, own] = [there, here].map((cell) => answers.get(pathsIn(cell)[0] ?? ''))
    const [, status = old?.status, example = ''] = /^(?:`(\d+)` )?`(\{.*\})`/.exec(theirs) ?? []
    expect(old?.status).toBe(Number(status))
    expect(shapeOf(old?.body)).toEqual(shapeOf(JSON.parse(example)))
    const [, expected, code] = /`(\d+)(?: (\w+))?`/.exec(ours) ?? []
    const body = code ? { error: { code } } : {}
    expect(own).toMatchObject({ status: Number(expected), body })
  })
})

/** What a section of the page says: the name of a service, the file of its route, and the rows of its tables. */
function toService(section: string) {
  const tables = section.matchAll(/^(?:Fields of `(\S+)`.* and of `(\S+)`.*:\n\n)?((?:\|.*\n)+)/gm)
  const service = {
    name: section.slice(0, section.indexOf('\n')),
    file: /^\/\/ (as-\S+)$/m.exec(section)?.[1] ?? '',
    paths: [
      ...new Set(section.split('\n').flatMap((line) => (isAsked(line) ? pathsIn(line) : []))),
    ],
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

function isAsked(line: string): boolean {
  return line.startsWith('|') || line.startsWith('Fields of')
}

/** What the route in `file` answers to `paths`. */
async function ask(file: string, paths: string[]): Promise<[string, Answer][]> {
  const program = ['ask.js', `./${file}`, ...paths]
  const { stdout, stderr } = await run(process.execPath, program, { cwd: folder })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

function isNothing(cell: string): boolean {
  return cell.startsWith('–')
}

/** The paths that stand in a text as code. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`(\/[^`]+)`/g)].map(([, path = '']) => path)
}

/** The field of `answer` that `cell` names, `points.0.r` for one; undefined where there is none. */
function fieldOf(answer: Answer | undefined, cell: string): unknown {
  const path = cell.replaceAll('`', '').split('.')
  return path.reduce<unknown>((parent, key) => Object(parent)[key], answer?.body)
}

/** `value` with its sentences left out; codes stand for themselves. */
function shapeOf(value: unknown): unknown {
  if (typeof value === 'string') return /^[\w-]+$/.test(value) ? value : 'a sentence'
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
}
