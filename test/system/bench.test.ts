import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { judge } from '../../bench/wire/goals.ts'
import { runAutocannon } from '../../bench/wire/load-autocannon.ts'
import { runWrk, wrkVersion } from '../../bench/wire/load-wrk.ts'
import { SHEETS, rowsOf } from '../../bench/wire/rows.ts'
import type { Sample } from '../../bench/wire/rounds.ts'
import { expectSame, expectSameKeys } from '../../bench/wire/same-bytes.ts'
import type { SocketAnswer } from '../../bench/wire/same-bytes.ts'
import { startServer } from '../../bench/wire/server.ts'
import { listen, run } from './processes.ts'

const QUICK = ['--quick', '--load', 'autocannon']

describe('npm run bench', () => {
  it('has a line for every server', async () => {
    const { code, stdout, stderr } = await bench('wire', '--only', 'convert')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const rows = rowsOf(SHEETS.convert, ['node', 'bun', 'deno'])
    expect(rows.length).toBeGreaterThan(15)
    for (const { name } of rows) expect(numbersOf(stdout, name), name).toHaveLength(8)
  })

  it('ends with 1 where a server sends another body', async () => {
    const also = 'test/system/other-body-program.ts'
    const { code, stderr } = await bench(
      'wire',
      '--only',
      'convert',
      '--runtimes',
      'deno',
      '--also',
      also,
    )
    expect(code).toBe(1)
    expect(stderr).toContain(`${also}: body is not ours`)
  })

  it('ends with 1 for a flag that it does not understand', async () => {
    const { code, stderr } = await bench('wire', '--only', 'nothing')
    expect(code).toBe(1)
    expect(stderr).toContain('--only must be one of convert, table, history')
  })
})

describe('npm run bench:scale', () => {
  it('has a line for each of its parts', async () => {
    const { code, stdout, stderr } = await bench('scale')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(numbersOf(stdout, '8')).toHaveLength(9)
    expect(numbersOf(stdout, '5Y')).toHaveLength(10)
    for (const name of ['amounts of a conversion', 'unknown parameters of a table', 'lists of']) {
      expect(numbersOf(stdout, name), name).toHaveLength(4)
    }
  })
})

describe('the answers of servers', () => {
  const ours: SocketAnswer = {
    status: 200,
    headers: [
      ['etag', '"1"'],
      ['cache-status', 'rates; hit; ttl=60'],
      ['content-length', '10'],
    ],
    body: Buffer.from('{"rate":1}'),
  }
  const [etag = ['', ''], age = ['', ''], length = ['', '']] = ours.headers

  it.each<[string, Partial<SocketAnswer>]>([
    ['as they are', {}],
    ['in another order', { headers: [length, age, etag] }],
    ['a second later', { headers: [etag, ['cache-status', 'rates; hit; ttl=-1'], length] }],
  ])('may come %s', (_how, changes) => {
    const answer = { ...ours, ...changes }
    expect(() => expectSame('it', answer, ours)).not.toThrow()
  })

  it.each<[string, Partial<SocketAnswer>]>([
    ['status', { status: 203 }],
    ['body', { body: Buffer.from('{"rate":2}') }],
    ['body', { body: Buffer.from('{"rate":1} ') }],
    ['headers', { headers: [etag, age] }],
    ['headers', { headers: [etag, age, ['transfer-encoding', 'chunked']] }],
    ['headers', { headers: [...ours.headers, ['x-powered-by', 'it']] }],
    ['headers', { headers: [['etag', '"2"'], age, length] }],
    ['headers', { headers: [etag, ['cache-status', 'rates; fwd=miss'], length] }],
  ])('may not have another %s (%o)', (what, changes) => {
    const answer = { ...ours, ...changes }
    expect(() => expectSame('it', answer, ours)).toThrow(`it: ${what} is not ours`)
  })

  it('may have other digits, but no other keys, where they are naive', () => {
    const body = (text: string): SocketAnswer => ({ ...ours, body: Buffer.from(text) })
    expect(() => expectSameKeys('it', body('{"rate":1.5}'), ours)).not.toThrow()
    expect(() => expectSameKeys('it', body('{"rate":1,"more":1}'), ours)).toThrow('keys')
    expect(() => expectSameKeys('it', body('{}'), ours)).toThrow('keys')
  })
})

describe.each([
  ['wrk', runWrk],
  ['autocannon', runAutocannon],
])('a load of %s', (name, load) => {
  const settings = { target: '/', connections: 2, seconds: 0.2 }

  beforeEach(({ skip }) => {
    skip(name === 'wrk' && wrkVersion() === undefined, 'wrk is not installed')
  })

  it('fails where an answer is no 200', async () => {
    const { url } = await listen((_request, response) => response.writeHead(404).end())
    await expect(load({ ...settings, url })).rejects.toThrow(/errors|faults/)
  })

  it('asks for the next number each time', async () => {
    const targets: string[] = []
    const { url } = await listen(({ url: target = '' }, response) => {
      targets.push(target)
      response.end('{}')
    })
    const { requests } = await load({ ...settings, url, target: '/?amount=', distinct: 1e7 })
    expect(requests).toBeGreaterThan(10)
    expect(new Set(targets).size).toBe(targets.length)
    expect(targets[0]).toMatch(/^\/\?amount=1000000\d$/)
  })
})

describe('a server', () => {
  it('that ends before it listens fails', async () => {
    const settings = { target: '/', ready: '/nowhere' }
    const starting = startServer('bench/wire/servers/bare-node.ts', 'node', settings)
    await expect(starting).rejects.toThrow('ENOENT')
  })

  it('that has ended since fails to tell what it used', async () => {
    const server = await startServer('bench/wire/servers/direct.ts', 'node', { target: '/' })
    onTestFinished(server.kill)
    expect((await server.usage()).cpu).toBeGreaterThan(0)
    await server.kill()
    await expect(server.usage()).rejects.toThrow('SIGKILL')
  })
})

describe('the goals', () => {
  const sample: Sample = { rate: 1_000, cpu: 10, p50: 1, p99: 1, rss: 1, loadShare: 0.5 }
  const rounds = (changes: Partial<Sample>): Sample[] =>
    [1, 2, 3].map(() => ({ ...sample, ...changes }))
  const reached = (direct: Partial<Sample>): boolean[] => {
    const samples = new Map([
      ['bare', rounds({})],
      ['direct', rounds(direct)],
      ['hono', rounds({ cpu: 12 })],
    ])
    return judge(new Map([['convert', samples]])).map(({ isReached }) => isReached)
  }

  it.each([
    [{}, [true, true, true]],
    [{ rate: 899 }, [false, true, true]],
    [{ cpu: 12 }, [true, false, true]],
    [{ p99: 1.6 }, [true, true, false]],
  ])('are reached or missed with %o', (direct, expected) => {
    expect(reached(direct)).toEqual(expected)
  })
})

/** Runs a bench as shortly as can be. */
function bench(name: string, ...flags: string[]): ReturnType<typeof run> {
  return run(process.execPath, [`bench/${name}.ts`, ...QUICK, ...flags])
}

/** The numbers of the first line of a table that begins with `name`. */
function numbersOf(stdout: string, name: string): string[] {
  const line = stdout.split('\n').find((each) => each.startsWith(`| ${name} `))
  const cells = line?.split('|').slice(2, -1) ?? []
  return cells.filter((cell) => /^ +-?[\d,.]+(?: %)? $/.test(cell))
}
