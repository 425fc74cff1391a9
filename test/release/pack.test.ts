import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { run } from '../system/processes.ts'
import { ROOT } from '../system/root.ts'
import { commandsOf, readWorkflow } from './workflow.ts'

interface Component {
  name: string
  version: string
  purl: string
  hashes?: { alg: string; content: string }[]
}

interface Locked {
  version: string
  integrity: string
  dependencies?: Record<string, string>
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
const packages: Record<string, Locked> = lock.packages
const tarball = `ratesmith-${manifest.version}.tgz`
const billName = `ratesmith-${manifest.version}.cdx.json`

let folder: string

/** What the workflow of a release packs, by the command that it runs for it. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratesmith-release-'))
  const { build = {} } = readWorkflow('release.yml').jobs
  const [, program = ''] = /^(\.ci\S+) release$/m.exec(commandsOf(build)) ?? []
  const { code, stderr } = await run(join(ROOT, program), [folder])
  if (code !== 0) throw new Error(`${program}: ${stderr}`)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Where a package finds another: beside itself, or the nearest above. */
function find(from: string, name: string): string {
  const path = `${from}${from && '/'}node_modules/${name}`
  if (packages[path]) return path
  if (from === '') throw new Error(`${name} is not in the lock file`)
  return find(from.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, ''), name)
}

/** The places of all that a package depends on, directly or not, in the lock file. */
function closure(names: string[], from = '', found = new Set<string>()): Set<string> {
  for (const name of names) {
    const path = find(from, name)
    if (found.has(path)) continue
    found.add(path)
    closure(Object.keys(packages[path]?.dependencies ?? {}), path, found)
  }
  return found
}

describe('a release', () => {
  it('is the tarball, the bill of materials and the sums of both', () => {
    expect(readdirSync(folder).sort()).toEqual([billName, tarball, 'SHA256SUMS'].sort())
    const sums = [tarball, billName].map((name) => {
      const sum = createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex')
      return `${sum}  ${name}\n`
    })
    expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toBe(sums.join(''))
  })

  it('has the same tarball whenever it is packed', async () => {
    const again = mkdtempSync(join(tmpdir(), 'ratesmith-release-'))
    try {
      const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', again]
      expect((await run('npm', args)).code).toBe(0)
      const [one, other] = [folder, again].map((each) => readFileSync(join(each, tarball)))
      expect(other && one?.equals(other)).toBe(true)
    } finally {
      rmSync(again, { recursive: true, force: true })
    }
  })
})

describe('the bill of materials', () => {
  it('is of this version, in the form of CycloneDX', () => {
    const bill = readBill()
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: expect.stringMatching(/^1\.[5-9]$/),
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
      version: 1,
    })
    expect(bill.metadata.component).toMatchObject({
      type: 'library',
      name: 'ratesmith',
      version: manifest.version,
      purl: `pkg:npm/ratesmith@${manifest.version}`,
    })
  })

  it('has what the package depends on, all of it and nothing else', () => {
    const names = Object.keys(manifest.dependencies)
    const expected = [...closure(names)].map((path) => {
      const name = path.replace(/^.*node_modules\//, '')
      return `${name}@${packages[path]?.version}`
    })
    expect(expected.length).toBeGreaterThan(names.length)
    const listed = readBill().components.map(({ name, version }) => `${name}@${version}`)
    expect(listed.sort()).toEqual(expected.sort())
  })

  it('has the sum of each, as it is locked', () => {
    for (const { name, version, hashes } of readBill().components) {
      const entry = Object.entries(packages).find(
        ([path, locked]) => path.endsWith(`node_modules/${name}`) && locked.version === version,
      )
      const [, base64 = ''] = entry?.[1].integrity.split('sha512-') ?? []
      const content = Buffer.from(base64, 'base64').toString('hex')
      expect(hashes, name).toContainEqual({ alg: 'SHA-512', content })
    }
  })

  it('says who depends on whom, and on nothing that it does not list', () => {
    const { dependencies, components, metadata } = readBill()
    const refs = [metadata.component, ...components].map(({ 'bom-ref': ref }) => ref)
    expect(dependencies.map(({ ref }) => ref).sort()).toEqual(refs.sort())
    const [itself] = dependencies.filter(({ ref }) => ref === metadata.component['bom-ref'])
    expect(itself?.dependsOn).toHaveLength(Object.keys(manifest.dependencies).length)
    const others = dependencies.flatMap(({ dependsOn }) => dependsOn)
    expect(others.filter((ref) => !refs.includes(ref))).toEqual([])
  })
})

type Described = Component & { 'bom-ref': string; type: string }

function readBill(): {
  bomFormat: string
  metadata: { component: Described }
  components: Described[]
  dependencies: { ref: string; dependsOn: string[] }[]
} {
  return JSON.parse(readFileSync(join(folder, billName), 'utf8'))
}
