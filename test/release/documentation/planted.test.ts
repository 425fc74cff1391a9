import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { faultOfAnswer, refusedPaths } from './answers.ts'
import { commandsOf, openSession } from './commands.ts'
import { faultsOfBlocks, faultsOfFrameworks } from './compiling.ts'
import { exceptionFor, isFollowed } from './exceptions.ts'
import { brokenLinks } from './links.ts'
import { packagesOf } from './packages.ts'
import { readPage } from './page.ts'
import type { Block } from './page.ts'
import { faultOfProgram, hostsOf } from './programs.ts'
import { openSite } from './site.ts'
import type { Site } from './site.ts'
import { faultOfWorker } from './worker.ts'

/** A block of `language`, behind a paragraph. */
function block(language: string, text: string, lead = 'So:'): Block {
  const fenced = ['# A page', lead, `\`\`\`${language}\n${text}\n\`\`\``].join('\n\n')
  const [only] = readPage('docs/planted.md', fenced).blocks
  if (!only) throw new Error('the page has no block')
  return only
}

describe('a page that is wrong', () => {
  it('has a block without an end', () => {
    const text = 'So:\n\n```ts\nconst open = 1\n'
    expect(() => readPage('docs/planted.md', text)).toThrow('docs/planted.md:3: ')
  })

  it('has blocks in lists and of other fences', () => {
    const text = '- So:\n\n  ```ts\n  one\n    two\n  ```\n\n~~~sh\n```\n~~~\n'
    const { blocks } = readPage('docs/planted.md', text)
    expect(blocks.map((each) => each.text)).toEqual(['one\n  two\n', '```\n'])
    expect(blocks.map(({ line, lead }) => [line, lead])).toEqual([
      [3, '- So:'],
      [8, '- So:'],
    ])
  })

  it.each(['missing.md', '#missing', '../README.md#missing', '../src#missing', '../../etc'])(
    'has a link to %s',
    (target) => {
      const text = `# A page\n\n[here](#a-page), [there](../src) and [nowhere](${target})\n`
      expect(brokenLinks(readPage('docs/planted.md', text))).toEqual([target])
    },
  )

  it('has links in other forms', () => {
    const text = `[one]: one.md\n<img src="two.png">\n![three](three.png "title")\n\n\`[code](four.md)\` [five](https://five.example)`
    const found = brokenLinks(readPage('docs/planted.md', text))
    expect(found.toSorted()).toEqual(['one.md', 'three.png', 'two.png'])
  })

  it('has headings of one name, and of `code`', () => {
    const text = '# Say `--so`, twice\n\n## Again\n\n## Again\n\n[1](#say---so-twice) [2](#again-1)'
    expect(brokenLinks(readPage('docs/planted.md', text))).toEqual([])
    expect(brokenLinks(readPage('docs/planted.md', `${text} [3](#again-2)`))).toEqual(['#again-2'])
  })

  it('has what is neither followed nor an exception', () => {
    expect(isFollowed(block('nginx', 'listen 80;'))).toBe(true)
    expect(exceptionFor('sh', 'docker compose up')).toBeDefined()
    expect(exceptionFor('sh', 'echo docker')).toBeUndefined()
  })
})

describe('an answer that is wrong', () => {
  const lead = '`/api/v1/convert?from=USD&to=EUR` answers:'
  const record =
    '{"from":"USD","to":"EUR","amount":1,"rate":0.85367936,"result":0.85367936,"updatedAt":1795186800000,"source":{"name":"Synthetic rates (ratesmith)","url":"https://www.npmjs.com/package/ratesmith"}}'

  it('has another number, another field or none', async () => {
    expect(await faultOfAnswer(block('json', record, lead))).toBeUndefined()
    for (const [from, to] of [
      ['0.85367936,"u', '0.85367937,"u'],
      ['"amount":1,', ''],
      ['"amount":1,', '"amount":1,"more":1,'],
    ] as const) {
      const planted = block('json', record.replace(from, to), lead)
      expect(await faultOfAnswer(planted)).toMatch(/ answers 200 \{"from":"USD"/)
    }
  })

  it('leaves out what it does not say', async () => {
    const shown = '{"from":"USD","…":"as above"}'
    expect(await faultOfAnswer(block('json', shown, lead))).toBeUndefined()
    expect(await faultOfAnswer(block('json', '{"from":"EUR","…":1}', lead))).toBeDefined()
  })

  it('is of no path', async () => {
    expect(await faultOfAnswer(block('json', record, '`/convert` answers:'))).toMatch(/no path/)
  })

  it('has other rows', async () => {
    const latest = '`/api/v1/latest?format=csv&symbols=EUR` answers:'
    const rows = 'base,code,rate,updatedAt,nextUpdateAt,source,sourceUrl\n'
    expect(await faultOfAnswer(block('csv', `${rows}…`, latest))).toBeUndefined()
    expect(await faultOfAnswer(block('csv', `${rows}USD,GBP,…`, latest))).toBeDefined()
    expect(await faultOfAnswer(block('csv', rows, latest))).toBeDefined()
  })

  it('is to a path that is refused', async () => {
    const paths = '/api/v1/latest\n/api/v1/latest?base=ABC'
    expect(await refusedPaths(block('text', paths))).toEqual(['/api/v1/latest?base=ABC'])
    const change = "-fetch('/api/v1/no')\n+fetch('/api/v1/yes')"
    expect(await refusedPaths(block('diff', change))).toEqual(['/api/v1/yes'])
    await expect(refusedPaths(block('diff', '-one\n+two'))).rejects.toThrow('no path')
  })
})

describe('a program that is wrong', () => {
  let site: Site
  beforeAll(async () => {
    site = await openSite(readPage('docs/planted.md', ''))
  })
  afterAll(() => site.close())

  it('does not compile', async () => {
    const page = (text: string) => readPage('docs/planted.md', `\`\`\`ts\n${text}\n\`\`\`\n`)
    const pages = [
      "import { createRatesHandler } from 'ratesmith'\nexport const { rates } = createRatesHandler()",
      "import { createRatesHandler } from 'ratesmith'\ncreateRatesHandler({ basePath: 1 })",
      "import { missing } from 'ratesmith'",
      "import { Redis } from 'ioredis'",
    ]
    expect(await faultsOfBlocks([page(pages[0] ?? '')], site)).toBe('')
    for (const text of pages.slice(1)) {
      expect(await faultsOfBlocks([page(text)], site), text).toMatch(/line-1\.mts\(\d,.*error TS/)
    }
    const table = '| framework |\n| --- |\n| Hono | app | `app.all(handler.missing)` |\n\n'
    expect(await faultsOfFrameworks(readPage('docs/planted.md', table), site)).toMatch('error TS')
  })

  describe.each(hostsOf(block('ts', '')))('on %s', (host) => {
    it.each([
      ['throws', "throw new Error('no')", /ended with 1: [^]*no/],
      ['says that something is wrong', "console.error('no')", /^no\n$/],
      ['has no rates', "export const handler = { rates: { latest: () => fetch('no') } }", /ended/],
      [
        'does not serve',
        "export default { fetch: () => new Response('', { status: 500 }) }",
        /ended/,
      ],
      ['does not even begin to', '// http://127.0.0.1:3000/api/v1/latest', /ended with 0 before/],
      [
        'serves something else',
        "import { createServer } from 'node:http'\ncreateServer((_, response) => response.writeHead(404).end()).listen(3000, '127.0.0.1')\n// http://127.0.0.1:3000/api/v1/latest",
        /answers 404/,
      ],
      ['tests nothing', "import test from 'node:test'\nvoid test", /ended/],
      [
        'fails its tests',
        "import test from 'node:test'\ntest('no', () => { throw 1 })",
        /ended with 1/,
      ],
      [
        'asks somebody unknown',
        "if (!(await fetch('https://nobody.example')).ok) throw 1",
        /ended with 1/,
      ],
    ])('%s', async (_, text, fault) => {
      expect(await faultOfProgram(block('ts', text), host, site)).toMatch(fault)
    })
  })

  it('is no Worker', async () => {
    const text = "export default { fetch: () => new Response('no', { status: 500 }) }"
    expect(await faultOfWorker(block('ts', text), site)).toBe('answers 500 no')
  })
})

describe('a command that is wrong', () => {
  let site: Site
  beforeAll(async () => {
    site = await openSite(readPage('docs/planted.md', ''))
  })
  afterAll(() => site.close())

  it.each([
    ['npx ratesmith convert 100 USD ABC --demo', /ended with 2: [^]*ABC/],
    ['npx ratesmith serve --demo --no-such-flag', /ended with 2 before/],
    ['curl http://127.0.0.1:8787/api/v1/latest', /ended with 7: /],
    ['node missing.mts', /ended with 1: /],
    ['npm install --save-dev ratesmith no-such-package', /there is no no-such-package$/],
  ])('%s', async (command, fault) => {
    const session = openSession(site)
    expect(await session.faultOf(['true', command])).toMatch(fault)
    await session.close()
  })

  it('asks its server for what is not there', async () => {
    const session = openSession(site)
    const ask = 'curl http://127.0.0.1:8787/api/v1/missing'
    const fault = await session.faultOf(['npx ratesmith serve --demo', ask])
    await session.close()
    expect(fault).toMatch(/missing: ended with 22: /)
  })

  it('is told from its comment, and from the next one', () => {
    const text = '# first\none --a # one\n\ntwo \\\n  --b\nthree "#3"'
    expect(commandsOf(block('sh', text))).toEqual(['one --a', 'two --b', 'three "#3"'])
  })

  it('installs what the page names', () => {
    const text = '```sh\nnpm install ratesmith ioredis # both\n```\nOr (`bun add hono@4`).'
    expect(packagesOf(readPage('docs/planted.md', text))).toEqual(['ioredis', 'hono'])
  })
})
