import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, inject, it } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import { run, temporaryFolder } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'

/** Everything that the build of the image reads, the guides and the skill. */
const INPUTS = [
  'docs',
  'skills',
  ...(readFileSync(join(ROOT, '.dockerignore'), 'utf8').match(/(?<=^!).+/gm) ?? []),
]

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

describe('a release', () => {
  it('consists of the tarball, its bill of materials, and the checksums of both', async () => {
    const folder = temporaryFolder()
    const { code, stderr } = await run(join(ROOT, '.ci/release/pack'), [folder])
    expect(code, stderr).toBe(0)
    const { version } = manifest
    const [tarball, bill] = [`ratesmith-${version}.tgz`, `ratesmith-${version}.cdx.json`]
    expect(readdirSync(folder).toSorted()).toEqual([bill, tarball, 'SHA256SUMS'].toSorted())
    const sums = [tarball, bill].map((name) => `${sha256(join(folder, name))}  ${name}\n`)
    expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toBe(sums.join(''))
    const listed = JSON.parse(readFileSync(join(folder, bill), 'utf8'))
    expectBill(listed, `pkg:npm/ratesmith@${version}`)
  })

  it('creates the same tarball in any folder, time zone and locale', async () => {
    const folder = temporaryFolder()
    const here = await packCopy(join(folder, 'here'), { TZ: 'UTC', LANG: 'C' })
    const abroad = { TZ: 'Asia/Tokyo', LANG: 'tr_TR.UTF-8' }
    const there = await packCopy(join(folder, 'over/there'), abroad)
    expect(there).toBe(here)
  })
})

/** Expects a bill of materials with everything that is installed with the package or built into it, and nothing else. */
function expectBill(
  { components, ...bill }: { components: { name: string; version: string; hashes: unknown }[] },
  purl: string,
): void {
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { purl } } })
  const installed = packagesOf(join(inject('installed').folder, 'node_modules/.package-lock.json'))
  const builtIn = ['@rgrove/parse-xml', 'fflate', 'ipaddr.js', 'itty-router', 'zod']
  const names = installed.map(({ name }) => name).filter((name) => name !== 'ratesmith')
  expect(components.map(({ name }) => name).toSorted()).toEqual([...names, ...builtIn].toSorted())
  const locked = packagesOf(join(ROOT, 'package-lock.json'))
  for (const { name, version, hashes } of components) {
    const entry = locked.find((each) => each.name === name && each.version === version)
    const content = Buffer.from(entry?.integrity.replace('sha512-', '') ?? '', 'base64')
    expect(hashes, name).toEqual([{ alg: 'SHA-512', content: content.toString('hex') }])
  }
}

function packagesOf(path: string) {
  const { packages } = JSON.parse(readFileSync(path, 'utf8'))
  return Object.entries<{ version: string; integrity: string }>(packages).map(([at, entry]) => {
    return { ...entry, name: at.replace(/^.*node_modules\//, '') }
  })
}

/** Builds and packs a copy of the project; resolves with the SHA-256 of the tarball. */
async function packCopy(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  mkdirSync(folder, { recursive: true })
  // Through a link, esbuild would find packages at another depth, which it writes into comments.
  const options = { recursive: true, verbatimSymlinks: true }
  for (const name of [...INPUTS, 'node_modules']) {
    cpSync(join(ROOT, name), join(folder, name), options)
  }
  const { code, stdout, stderr } = await run('npm', ['pack', '--json'], { cwd: folder, env })
  expect(code, stderr).toBe(0)
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
  expect(files.length).toBeGreaterThan(100)
  return sha256(join(folder, filename))
}
