import fs from 'node:fs'

import { beforeEach, describe, expect, it } from 'vitest'

import { hashKey } from '../../src/access/index.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'
import { DAY, NOW, run } from './run.ts'

const KEY = /^rsk_[0-9A-Za-z]{36}\n$/

let folder = ''
beforeEach(() => {
  folder = temporaryFolder()
})

/** Creates a key and returns it, with its id. */
async function create(file: string, ...flags: string[]) {
  const args = ['keys', 'create', '--keys', file, '--plan', 'pro', '--name', 'acme', ...flags]
  const ran = await run(args)
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(KEY) })
  const key = ran.stdout.trim()
  const hash = await hashKey(key)
  return { key, hash, id: hash.slice(0, 12), stderr: ran.stderr }
}

async function list(file: string) {
  const { code, stdout } = await run(['keys', 'list', '--keys', file, '--json'])
  expect(code).toBe(0)
  return JSON.parse(stdout).keys
}

describe('ratesmith keys in a file', () => {
  let file = ''
  beforeEach(() => {
    file = `${folder}/keys.json`
  })

  it('creates a key, which only stdout contains, and keeps its hash', async () => {
    const { key, id, hash, stderr } = await create(file, '--expires', '90d')
    expect(stderr).toContain(`key ${id} for acme on plan pro, expires 2027-02-18 19:05 UTC\n`)
    const written = fs
      .readdirSync(folder)
      .map((each) => fs.readFileSync(`${folder}/${each}`, 'latin1'))
      .join('')
    expect(written).toContain(hash)
    for (const part of [key, key.slice(4, 20), key.slice(20)]) {
      expect(stderr + written).not.toContain(part)
    }
  })

  it('prints one object with the key with --json, and nothing else on stdout', async () => {
    const args = ['keys', 'create', '--keys', file, '--plan', 'pro', '--name', 'acme', '--json']
    const { code, stdout, stderr } = await run([...args, '--expires', '90d'])
    const { key, ...record } = JSON.parse(stdout)
    expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({
      code: 0,
      stderr: '',
      lines: 2,
    })
    expect(`${key}\n`).toMatch(KEY)
    expect(record.id).toBe((await hashKey(key)).slice(0, 12))
    expect(await list(file)).toEqual([record])
    expect(record.expires).toBe('2027-02-18T19:05:59.000Z')
  })

  it('lists keys with their ends, their origins and their states', async () => {
    const origins = ['https://acme.example', 'http://localhost:3000']
    const flags = origins.flatMap((origin) => ['--origin', origin])
    const { id } = await create(file, '--expires', '2026-11-20', ...flags)
    const other = await create(file)
    const fields = { name: 'acme', plan: 'pro', created: '2026-11-20T19:05:59.000Z', revoked: null }
    expect(await list(file)).toEqual([
      // The whole last day, in UTC.
      { ...fields, id, state: 'active', expires: '2026-11-21T00:00:00.000Z', origins },
      { ...fields, id: other.id, state: 'active', expires: null, origins: null },
    ])
    const later = await run(['keys', 'list', '--keys', file], { now: () => NOW + DAY })
    expect(later.stdout).toBe(
      `${id}\tacme\tpro\t2026-11-20 19:05 UTC\texpired\t2026-11-21 00:00 UTC\t${origins.join(',')}\n` +
        `${other.id}\tacme\tpro\t2026-11-20 19:05 UTC\tactive\t\t\n`,
    )
    const env = { NO_COLOR: '1' }
    const shown = await run(['keys', 'list', '--keys', file], { columns: 200, env })
    expect(shown.stdout).toMatch(/^id +name +plan +created +state +expires +origins\n/)
    expect(shown.stdout).toContain('https://acme.example,http://localhost:3000')
  })

  it('revokes a key by its id, or by the name of a single active one', async () => {
    const first = await create(file)
    const second = await create(file)
    const both = await run(['keys', 'revoke', 'acme', '--keys', file])
    expect(both).toMatchObject({ code: 2, stdout: '' })
    expect(both.stderr).toContain(`${first.id}, ${second.id}`)
    const revoked = await run(['keys', 'revoke', first.id, '--keys', file])
    expect(revoked).toMatchObject({ code: 0, stdout: `revoked ${first.id} (acme)\n` })
    const again = await run(['keys', 'revoke', first.id, '--keys', file])
    expect(again).toMatchObject({ code: 0, stdout: `already revoked ${first.id} (acme)\n` })
    expect((await run(['keys', 'revoke', 'acme', '--keys', file])).stdout).toContain(second.id)
    expect((await list(file)).map(({ state }: { state: string }) => state)).toEqual([
      'revoked',
      'revoked',
    ])
  })

  it('suggests a name for an unknown one, and refuses a key instead of an id', async () => {
    const { key } = await create(file)
    const unknown = await run(['keys', 'revoke', 'acne', '--keys', file])
    expect(unknown).toMatchObject({ code: 2, stdout: '' })
    expect(unknown.stderr).toContain('unknown key acne. Did you mean acme?')
    const pasted = await run(['keys', 'revoke', key, '--keys', file])
    expect(pasted).toMatchObject({ code: 2, stdout: '' })
    expect(pasted.stderr).toContain('not the key')
    expect(pasted.stderr).not.toContain(key)
  })

  it('warns if others can read the file, but not for a group that only reads it', async () => {
    await create(file)
    expect((await run(['keys', 'list', '--keys', file])).stderr).toBe('')
    fs.chmodSync(file, 0o440)
    expect((await run(['keys', 'list', '--keys', file])).stderr).toBe('')
    fs.chmodSync(file, 0o644)
    const { code, stderr } = await run(['keys', 'list', '--keys', file])
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining(`chmod 600 ${file}`),
    })
  })
})

describe('ratesmith keys', () => {
  it('uses the file of RATESMITH_KEYS without --keys', async () => {
    const { id } = await create(`${folder}/keys.json`)
    const { stdout } = await run(['keys', 'list'], {
      env: { RATESMITH_KEYS: `${folder}/keys.json` },
    })
    expect(stdout).toContain(id)
  })

  it('exits with 1 and the reason for a damaged file', async () => {
    const file = `${folder}/keys.json`
    fs.writeFileSync(file, '{"version":1,"keys":[')
    for (const args of [['list'], ['revoke', 'a'], ['create', '--plan', 'a', '--name', 'b']]) {
      const { code, stdout, stderr } = await run(['keys', ...args, '--keys', file])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^ratesmith: key file .*keys\.json: damaged[^\n]*\n$/)
    }
    expect(fs.readFileSync(file, 'utf8')).toBe('{"version":1,"keys":[')
  })

  it.each([
    ['create --name a', 'keys create needs --plan'],
    ['create --plan a', 'keys create needs --name'],
  ])('creates no file for %s', async (typed, message) => {
    const env = { RATESMITH_KEYS: `${folder}/missing.json` }
    const { code, stderr } = await run(['keys', ...typed.split(' ')], { env })
    expect([code, stderr]).toEqual([2, `ratesmith: ${message} (see ratesmith help keys)\n`])
    expect(fs.readdirSync(folder)).toEqual([])
  })
})

describe('messages of ratesmith keys', () => {
  it('contain no commands for terminals, from arguments or from files', async () => {
    const file = `${folder}/keys.json`
    await create(file)
    const revoked = await run(['keys', 'revoke', 'x\u001b[2J\u202e\ny', '--keys', file])
    expect(revoked).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown key x') })
    const foreign = `${folder}/foreign.json`
    fs.writeFileSync(foreign, JSON.stringify({ version: '\u001b]0;title\u0007', keys: [] }))
    const listed = await run(['keys', 'list', '--keys', foreign])
    expect(listed).toMatchObject({ code: 1, stderr: expect.stringContaining('version must be 1') })
    for (const { stderr } of [revoked, listed]) expect(stderr).toMatch(/^[^\p{Cc}\p{Cf}]+\n$/u)
  })
})
