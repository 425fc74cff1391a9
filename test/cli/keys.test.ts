import fs from 'node:fs'

import { beforeEach, expect, it } from 'vitest'

import { hashKey } from '../../src/access/index.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'
import { DAY, NOW, run } from './run.ts'
import type { Surroundings } from './run.ts'

const KEY = /^rsk_[0-9A-Za-z]{36}\n$/

let folder = ''
let file = ''
beforeEach(() => {
  folder = temporaryFolder()
  file = `${folder}/keys.json`
})

const keys = (words: string, surroundings: Surroundings = {}) =>
  run(['keys', ...words.split(' '), '--keys', file], surroundings)

async function create(flags = '') {
  const ran = await keys(`create --plan pro --name acme${flags}`)
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(KEY) })
  const key = ran.stdout.trim()
  const hash = await hashKey(key)
  return { key, hash, id: hash.slice(0, 12), stderr: ran.stderr }
}

const list = async () => JSON.parse((await keys('list --json')).stdout).keys

it('creates a key, which only stdout contains, also as JSON, and keeps its hash', async () => {
  const { key, id, hash, stderr } = await create(' --expires 90d')
  expect(stderr).toContain(`key ${id} for acme on plan pro, expires 2027-02-18 19:05 UTC\n`)
  expect(fs.readdirSync(folder)).toEqual(['keys.json'])
  const written = fs.readFileSync(file, 'latin1')
  expect(written).toContain(hash)
  for (const part of [key, key.slice(4, 20), key.slice(20)]) {
    expect(stderr + written).not.toContain(part)
  }
  const printed = await keys('create --plan pro --name acme --expires 90d --json')
  expect(printed).toMatchObject({ code: 0, stderr: '' })
  const { key: another, ...record } = JSON.parse(printed.stdout)
  expect(`${another}\n`).toMatch(KEY)
  expect(record).toMatchObject({ expires: '2027-02-18T19:05:59.000Z' })
  expect((await list())[1]).toEqual(record)
})

it('lists keys with their ends, their origins and their states', async () => {
  const origins = ['https://acme.example', 'http://localhost:3000']
  const { id } = await create(` --expires 2026-11-20 --origin ${origins.join(' --origin ')}`)
  const other = await create()
  const fields = { name: 'acme', plan: 'pro', created: '2026-11-20T19:05:59.000Z', revoked: null }
  expect(await list()).toEqual([
    // The whole last day, in UTC.
    { ...fields, id, state: 'active', expires: '2026-11-21T00:00:00.000Z', origins },
    { ...fields, id: other.id, state: 'active', expires: null, origins: null },
  ])
  const later = await keys('list', { now: () => NOW + DAY })
  expect(later.stdout).toBe(
    `${id}\tacme\tpro\t2026-11-20 19:05 UTC\texpired\t2026-11-21 00:00 UTC\t${origins.join(',')}\n` +
      `${other.id}\tacme\tpro\t2026-11-20 19:05 UTC\tactive\t\t\n`,
  )
  const shown = await keys('list', { columns: 200, env: { NO_COLOR: '1' } })
  expect(shown.stdout).toMatch(/^id +name +plan +created +state +expires +origins\n/)
  expect(shown.stdout).toContain(origins.join())
})

it('revokes a key by its id, or by the name of a single active one', async () => {
  const [first, second] = [await create(), await create()]
  const both = await keys('revoke acme')
  expect(both).toMatchObject({ code: 2, stdout: '' })
  expect(both.stderr).toContain(`${first.id}, ${second.id}`)
  for (const stdout of [`revoked ${first.id} (acme)\n`, `already revoked ${first.id} (acme)\n`]) {
    expect(await keys(`revoke ${first.id}`)).toMatchObject({ code: 0, stdout })
  }
  expect((await keys('revoke acme')).stdout).toContain(second.id)
  expect(await list()).toMatchObject([{ state: 'revoked' }, { state: 'revoked' }])
})

it('suggests a name for an unknown one, and refuses a key instead of an id', async () => {
  const { key } = await create()
  const unknown = await keys('revoke acne')
  expect(unknown).toMatchObject({ code: 2, stdout: '' })
  expect(unknown.stderr).toContain('unknown key acne. Did you mean acme?')
  const pasted = await keys(`revoke ${key}`)
  expect(pasted).toMatchObject({ code: 2, stdout: '' })
  expect(pasted.stderr).toContain('not the key')
  expect(pasted.stderr).not.toContain(key)
})

it('warns if others can read the file, but not for a group that only reads it', async () => {
  await create()
  expect((await keys('list')).stderr).toBe('')
  fs.chmodSync(file, 0o440)
  expect((await keys('list')).stderr).toBe('')
  fs.chmodSync(file, 0o644)
  const stderr = expect.stringContaining(`chmod 600 ${file}`)
  expect(await keys('list')).toMatchObject({ code: 0, stderr })
})

it('exits with 1 and the reason for a damaged file', async () => {
  const text = '{"version":1,"keys":['
  fs.writeFileSync(file, text)
  for (const words of ['list', 'revoke a', 'create --plan a --name b']) {
    const stderr = expect.stringMatching(/^ratesmith: key file .*keys\.json: damaged[^\n]*\n$/)
    expect(await keys(words)).toEqual({ code: 1, stdout: '', stderr })
  }
  expect(fs.readFileSync(file, 'utf8')).toBe(text)
})

it('prints no commands for terminals, from arguments or from files', async () => {
  await create()
  const revoked = await keys('revoke x\u001b[2J\u202e\ny')
  expect(revoked).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown key x') })
  fs.writeFileSync(file, JSON.stringify({ version: '\u001b]0;title\u0007', keys: [] }))
  const listed = await keys('list')
  expect(listed).toMatchObject({ code: 1, stderr: expect.stringContaining('version must be 1') })
  for (const { stderr } of [revoked, listed]) expect(stderr).toMatch(/^[^\p{Cc}\p{Cf}]+\n$/u)
})
