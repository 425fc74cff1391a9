import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { createKey } from '../../src/access/index.ts'
import { finish } from '../virtual-runtime.ts'
import { PLANS, hashAtOnce, openGuarded, recordedStore } from './service.ts'

const SCENARIOS = readFileSync(new URL('scenarios.txt', import.meta.url), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .trim()
  .split(/\n\n+/)
  .map((text) => text.split('\n'))

const FAULTS: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('down')
  },
  rejects: () => Promise.reject(new Error('down')),
  hangs: () => new Promise(() => {}),
}

async function open(given: string) {
  const { keys: records = {}, ...options } = JSON.parse(given)
  const names = Object.keys(records)
  const { store, keys, found, replace } = await recordedStore(Object.values(records))
  const own = Object.fromEntries(names.map((name, index) => [name, keys[index] ?? '']))
  const access = { plans: PLANS, anonymous: 'refuse', keys: store, ...options }
  return { ...openGuarded(access, { explorer: true }), store, own, found, replace }
}

type World = Awaited<ReturnType<typeof open>>

/** Asks as a line says; returns the statuses, `200x5 429`, and the last response as text. */
async function ask({ send, own, runtime }: World, words: string): Promise<[string, string]> {
  const parts = words.match(/(?:"[^"]*"|[^\s"])+/g) ?? []
  const times = Number(parts.find((part) => /^\d+$/.test(part)) ?? 1)
  const statuses = new Map<number, number>()
  let last = ''
  for (let time = 0; time < times; time += 1) {
    const { key } = await createKey()
    const all: Record<string, string> = { ...own, new: key }
    const filled = parts.map((part) =>
      part.replaceAll('"', '').replaceAll(/\{(\w+)\}/g, (_, name: string) => all[name] ?? ''),
    )
    const pairs = filled.flatMap((part) => /^([a-z-]+)=(.*)$/s.exec(part)?.slice(1, 3) ?? [])
    const headers: Record<string, string> = {}
    for (let at = 0; at < pairs.length; at += 2) {
      const [name = '', value = ''] = pairs.slice(at, at + 2)
      headers[name === 'key' ? 'x-api-key' : name] = name === 'key' ? (own[value] ?? '') : value
    }
    const response = await finish(
      runtime,
      send({
        headers,
        client: filled.find((part) => /^\d+\.\d+\.\d+\.\d+$/.test(part)),
        method: filled.find((part) => /^[A-Z]+$/.test(part)) ?? 'GET',
        target: filled.find((part) => part.startsWith('/')) ?? '/v1/latest?base=EUR',
      }),
    )
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    const head = response.headers.map((header) => header.join(': ')).join('\n')
    last = `${head}\n\n${response.text}`
    for (const secret of Object.values(all)) expect(last).not.toContain(secret)
  }
  return [
    Array.from(statuses, ([status, n]) => (n > 1 ? `${status}x${n}` : status)).join(' '),
    last,
  ]
}

/** What steps do and return: themselves, with what was seen. */
const STEPS: Readonly<Record<string, (world: World, rest: string) => Promise<string>>> = {
  async ask(world, rest) {
    const [words = '', expected = ''] = rest.split(/ ?=> /)
    const [, ...texts] = expected.split(' | ')
    const [statuses, last] = await ask(world, words)
    const seen = texts.map((text) => (last.includes(text) ? text : `not ${text} in ${last}`))
    return `${words} => ${[statuses, ...seen].join(' | ')}`.trimStart()
  },
  async wait({ runtime }, rest) {
    await runtime.advance(Number(rest))
    return rest
  },
  async store({ store }, rest) {
    store.override = FAULTS[rest]
    return rest
  },
  async record({ replace, own }, rest) {
    const [, name = '', record = ''] = /^(\w+) (.*)$/.exec(rest) ?? []
    await replace(own[name] ?? '', JSON.parse(record))
    return rest
  },
  found: async ({ found }) => String(found.length),
  async events({ events }, rest) {
    const [type = ''] = rest.split(' ', 1)
    const seen = events.filter((event) => event.type === type)
    return `${type} ${JSON.stringify(seen.map(({ type: _type, ...about }) => about))}`
  },
}

it.each(SCENARIOS)('%s', async (_title, given = '', ...lines) => {
  hashAtOnce()
  const world = await open(given.replace(/^given /, ''))
  world.own['one'] = (await createKey()).key
  for (const line of lines) {
    const [, verb = '', rest = ''] = /^(\w+) ?(.*)$/.exec(line) ?? []
    expect(`${verb} ${await STEPS[verb]?.(world, rest)}`.trimEnd()).toBe(line)
  }
})
