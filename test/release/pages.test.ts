import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { ROOT } from '../system/root.ts'
import { SCRIPTS } from './commands.ts'
import {
  PAGES,
  firstColumn,
  missingPaths,
  missingScripts,
  read,
  readPage,
  sorted,
} from './pages.ts'

/** Scripts that are parts of others, or are started by npm itself. */
const PARTS = [
  'check:package',
  'format:check',
  'lint',
  'prebuild',
  'prebuild:binary',
  'prepack',
  'start',
  'typecheck',
]

describe.each(PAGES)('.github/%s.md', (name) => {
  const text = readPage(name)

  it('names files and folders that there are', () => {
    expect(missingPaths(text)).toEqual([])
  })

  it('names scripts that there are', () => {
    expect(missingScripts(text)).toEqual([])
  })

  it('has no address of anybody', () => {
    expect(text).not.toMatch(/[\w.]+@(?!\d)[\w-]+\.\w/)
  })
})

describe('a page', () => {
  it('is found out where it names what is not there', () => {
    const text = [
      '`src/no-such-room/`, `src/rates/`, `no-such.json`, `package.json`, `dist/`, `release.yml`',
      '`npm run no-such-script -- --flag`, `npm run check`',
      '```sh\nnpm run no-such-either # as it says\n```',
    ].join('\n\n')
    expect(missingPaths(text)).toEqual(['src/no-such-room/', 'no-such.json'])
    expect(missingScripts(text)).toEqual(['no-such-script', 'no-such-either'])
  })
})

describe('the notes for contributors', () => {
  const text = readPage('CONTRIBUTING')

  it('have every script that is not a part of another', () => {
    const listed = firstColumn(text, 'command').map((code) => code.replace(/^npm (run )?/, ''))
    const scripts = Object.keys(SCRIPTS).filter((script) => !PARTS.includes(script))
    expect(sorted(listed)).toEqual(sorted([...scripts, '.ci/run']))
  })

  it('have every room of the house', () => {
    const rooms = readdirSync(join(ROOT, 'src')).map((name) => name.replace(/\.ts$/, ''))
    expect(firstColumn(text, 'room')).toEqual(sorted([...rooms, 'adapters']))
  })

  it('draw imports that the architecture allows', () => {
    const lines = text.split('\n').filter((line) => line.includes(' ──▶ '))
    const drawn = lines.flatMap((line) => {
      const rooms = line.trim().split(' ──▶ ')
      return rooms.slice(1).map((to, at) => ({ from: rooms[at] ?? '', to }))
    })
    expect(drawn.length).toBeGreaterThan(15)
    const allowed = readAllowedImports()
    const wrong = drawn.filter(({ from, to }) => {
      const imports = allowed.get(from) ?? []
      return !['*', to, `type ${to}`].some((each) => imports.includes(each))
    })
    expect(wrong).toEqual([])
  })

  it('have the projects of the tests', () => {
    const names = [...read('vitest.config.ts').matchAll(/name: '(\w+)'/g)]
    expect(firstColumn(text, 'project')).toEqual(sorted(names.map(([, name = '']) => name)))
  })
})

/** What `MAY_IMPORT` says: what each room may import. */
function readAllowedImports(): Map<string, string[]> {
  const source = read('test/architecture.test.ts')
  const [, table = ''] = /^const MAY_IMPORT[^{]*\{(.*?)^\}/ms.exec(source) ?? []
  const rows = table.matchAll(/^ {2}'?([\w-]+)'?: \[(.*?)\]/gms)
  const rooms = [...rows].map(([, room = '', list = '']): [string, string[]] => [
    room,
    [...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => name),
  ])
  return new Map(rooms)
}

describe('the security policy', () => {
  it('says how soon a report is answered, and a fault mended', () => {
    expect(firstColumn(readPage('SECURITY'), 'when')).toEqual([
      'with the release of the fix',
      'within 3 days',
      'within 30 days',
    ])
  })

  it('is where reports go, from every page and form that could get one', () => {
    const others = PAGES.filter((name) => name !== 'SECURITY').map(readPage)
    const forms = ['config', 'bug'].map((name) => read(`.github/ISSUE_TEMPLATE/${name}.yml`))
    for (const text of [...others, ...forms]) {
      expect(text).toMatch(/SECURITY\.md|Report a vulnerability/)
    }
  })
})
