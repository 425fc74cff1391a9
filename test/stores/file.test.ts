import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createFileStore } from '../../src/stores/file.ts'
import { itMeetsTheContract, temporaryFolder } from './meets-contract.ts'

const NEVER = 8_640_000_000_000_000

function onlyName(folder: string): string {
  const names = fs.readdirSync(folder)
  expect(names).toHaveLength(1)
  return names[0] ?? ''
}

/** Creates a file in `folder` with a modification time `age` ms ago. */
function plant(folder: string, name: string, age: number): string {
  const path = `${folder}/${name}`
  fs.writeFileSync(path, '{"half":')
  const seconds = (Date.now() - age) / 1_000
  fs.utimesSync(path, seconds, seconds)
  return path
}

function unfinishedName(of: string): string {
  return `${of}.${crypto.randomUUID()}.tmp`
}

describe('createFileStore()', () => {
  itMeetsTheContract(() => createFileStore(temporaryFolder()))

  it('creates its folder on the first set, and again after the folder was removed', async () => {
    const folder = `${temporaryFolder()}/not/there`
    const store = createFileStore(folder)
    for (const text of ['one', 'two']) {
      expect(await store.get('a')).toBeUndefined()
      expect(fs.existsSync(folder)).toBe(false)
      await store.set('a', text, NEVER)
      expect(await store.get('a')).toBe(text)
      fs.rmSync(folder, { recursive: true })
    }
  })

  it('stores the unchanged text, in one file per key with mode 0600', async () => {
    const folder = temporaryFolder()
    const store = createFileStore(folder)
    for (const text of ['{"v":1}', '{"v":2}']) await store.set('rates:v1:EUR', text, 0)
    const name = onlyName(folder)
    expect(name).toMatch(/^rates-v1-eur-[0-9a-f]{32}\.cache$/)
    expect(fs.readFileSync(`${folder}/${name}`, 'utf8')).toBe('{"v":2}')
    // Windows has no such permissions.
    expect([0o600, 0o666]).toContain(fs.statSync(`${folder}/${name}`).mode & 0o777)
    expect(await createFileStore(folder).get('rates:v1:EUR')).toBe('{"v":2}')
  })

  it('gives every key a distinct file name within the folder, on every file system', async () => {
    const above = temporaryFolder()
    const folder = `${above}/rates`
    const store = createFileStore(folder)
    const keys = ['', '..', '../x', '/x', 'a', 'A', 'aux', 'CON', 'a:b', 'a/b', 'a.', '\u0000']
    const strange = ['__proto__', 'x'.repeat(300), `${'x'.repeat(299)}y`, 'é', '\ud800', '\udfff']
    for (const key of [...keys, ...strange]) await store.set(key, key.replace(/\W/gu, '?'), NEVER)
    const names = fs.readdirSync(folder)
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(18)
    for (const name of names) expect(name).toMatch(/^[a-z0-9-]{1,60}-[0-9a-f]{32}\.cache$/)
    expect(fs.readdirSync(above)).toEqual(['rates'])
  })

  it('keeps the text set last, regardless of the order in which the disk finishes', async () => {
    const store = createFileStore(temporaryFolder())
    for (let round = 0; round < 20; round += 1) {
      const sizes = [900_000, 90_000, 9]
      await Promise.all(sizes.map((size) => store.set('a', 'x'.repeat(size), NEVER)))
      expect(String(await store.get('a'))).toHaveLength(9)
    }
  })

  it('never returns a partial text', async () => {
    const folder = temporaryFolder()
    const texts = ['a', 'b'].map((letter) => letter.repeat(1_000_000))
    const [writer, reader] = [createFileStore(folder), createFileStore(folder)]
    await writer.set('a', 'a'.repeat(1_000_000), NEVER)
    const seen = new Set<unknown>()
    for (let round = 0; round < 30; round += 1) {
      const written = writer.set('a', texts[round % 2] ?? '', NEVER)
      seen.add(await reader.get('a'))
      await written
    }
    expect([...seen].filter((text) => !texts.includes(String(text)))).toEqual([])
  })

  it('rejects instead of missing when it cannot read', async () => {
    const folder = temporaryFolder()
    fs.writeFileSync(`${folder}/rates`, 'no folder')
    const inTheWay = createFileStore(`${folder}/rates`)
    await expect(inTheWay.get('a')).rejects.toThrow('ENOTDIR')
    await expect(inTheWay.set('a', 'text', NEVER)).rejects.toThrow(/EEXIST|ENOTDIR/)
  })

  it('rejects when it cannot write, leaves no file behind and works afterwards', async () => {
    const folder = temporaryFolder()
    const store = createFileStore(folder)
    await store.set('a', 'one', NEVER)
    const path = `${folder}/${onlyName(folder)}`
    fs.rmSync(path)
    fs.mkdirSync(`${path}/in/the/way`, { recursive: true })
    await expect(store.set('a', 'two', NEVER)).rejects.toThrow(/rename/)
    await expect(store.get('a')).rejects.toThrow('is not a regular file')
    onlyName(folder)
    await store.set('b', 'three', NEVER)
    expect(await store.get('b')).toBe('three')
  })

  // Windows has no named pipes in folders.
  it.skipIf(process.platform === 'win32')('rejects at once for a pipe', async () => {
    const folder = temporaryFolder()
    const store = createFileStore(folder)
    await store.set('a', 'one', NEVER)
    const path = `${folder}/${onlyName(folder)}`
    fs.rmSync(path)
    execFileSync('mkfifo', [path])
    await expect(store.get('a')).rejects.toThrow('is not a regular file')
  })

  it('removes temporary files of killed writers, but no newer and no foreign ones', async () => {
    const folder = temporaryFolder()
    await createFileStore(folder).set('a', 'one', NEVER)
    const name = onlyName(folder)
    const left = plant(folder, unfinishedName(name), 90_000)
    const kept = [
      plant(folder, unfinishedName(name), 30_000),
      plant(folder, 'notes.tmp', 90_000),
      plant(folder, `${name}.tmp`, 90_000),
      plant(folder, unfinishedName('notes.txt'), 90_000),
      plant(folder, name.replace('a-', 'b-'), 90_000),
    ]
    const store = createFileStore(folder)
    expect(await store.get('a')).toBe('one')
    expect(fs.existsSync(left)).toBe(true)
    await store.set('a', 'two', NEVER)
    expect(fs.existsSync(left)).toBe(false)
    expect(kept.filter((path) => !fs.existsSync(path))).toEqual([])
  })

  it.each(['', undefined, 5])('throws for the folder %j', (folder) => {
    // @ts-expect-error not everyone has a compiler
    expect(() => createFileStore(folder)).toThrow(TypeError)
  })
})
