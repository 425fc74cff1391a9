import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { execForm, isIgnored, parseDockerfile, setting } from './dockerfile.ts'
import type { Stage } from './dockerfile.ts'
import { buildImage } from './image.ts'
import { keptFiles } from './kept-files.ts'
import { freePort } from './ports.ts'
import { run, start } from './processes.ts'
import type { Running } from './processes.ts'
import { ROOT } from './root.ts'

const stages = parseDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** The stage that becomes the image. */
const image: Stage = stages.at(-1) ?? { base: '', name: undefined, steps: [] }

let folder: string
/** The folder that the image works in, carried out without a container. */
let app: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratesmith-image-'))
  app = await buildImage(stages, folder)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts what the image starts, on a port of the loopback interface; later flags count. */
async function startImage(...flags: string[]): Promise<Running & { port: number }> {
  const port = await freePort()
  const [, ...words] = execForm(setting(image, 'ENTRYPOINT'))
  const args = [...words, '--host', '127.0.0.1', '--port', String(port), ...flags]
  const running = start(process.execPath, args, { cwd: app })
  await running.written(/listens on/)
  return Object.assign(running, { port })
}

/** The exit code of the health check, made on another port than that of the image. */
async function checkHealth(port: number): Promise<number | null> {
  const [, command = ''] = / CMD (\[.*)$/.exec(setting(image, 'HEALTHCHECK')) ?? []
  const [program, ...words] = execForm(command)
  expect(program).toBe('node')
  const args = words.map((word) => word.replace(':8787/', `:${port}/`))
  expect(args).not.toEqual(words)
  return (await run(process.execPath, args)).code
}

describe('the image', () => {
  it('is of the Node that the tests run on', () => {
    const [major] = manifest.devDependencies.node.split('.')
    expect(new Set(stages.map(({ base }) => base))).toEqual(
      new Set([`node:${major}-bookworm-slim`]),
    )
  })

  it('has the package and the clients that it may use, in the versions of the tests', () => {
    const versions = Object.fromEntries(
      ['ratesmith', 'ioredis', 'undici'].map((name) => {
        const text = readFileSync(join(app, 'node_modules', name, 'package.json'), 'utf8')
        return [name, JSON.parse(text).version]
      }),
    )
    const { ioredis, undici } = manifest.devDependencies
    expect(versions).toEqual({ ratesmith: manifest.version, ioredis, undici })
  })

  it('holds what serves and nothing that only builds', () => {
    expect(readdirSync(app).sort()).toEqual(['data', 'node_modules'])
    const packages = readdirSync(join(app, 'node_modules'))
    const only = Object.keys(manifest.devDependencies).filter(
      (name) => name !== 'ioredis' && name !== 'undici',
    )
    expect(packages.filter((name) => only.includes(name))).toEqual([])
  })

  it('runs as an ordinary user and says where it listens', () => {
    expect(setting(image, 'USER')).toBe('node')
    expect(setting(image, 'EXPOSE')).toBe('8787')
    expect(execForm(setting(image, 'ENTRYPOINT')).slice(-3)).toEqual(['serve', '--host', '0.0.0.0'])
  })

  it('serves until it is told to stop, and is healthy meanwhile', async () => {
    const running = await startImage('--demo')
    const url = `http://127.0.0.1:${running.port}/api/v1/convert?from=USD&to=EUR`
    expect((await fetch(url)).status).toBe(200)
    expect(await checkHealth(running.port)).toBe(0)
    running.process.kill('SIGTERM')
    expect(await running.exited).toBe(0)
    expect(await checkHealth(running.port)).toBe(1)
  })

  it('is not healthy where something else answers', async () => {
    const running = await startImage('--demo', '--base-path', '/elsewhere')
    expect(await checkHealth(running.port)).toBe(1)
  })

  it('keeps data in its folder for them', async () => {
    const running = await startImage('--demo', '--data', 'data')
    expect((await fetch(`http://127.0.0.1:${running.port}/api/v1/latest`)).status).toBe(200)
    await expect.poll(() => keptFiles(join(app, 'data')), { timeout: 5_000 }).toHaveLength(1)
  })
})

describe('the Dockerfile', () => {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')

  it('runs no scripts of packages, and has none that only builds', () => {
    const installs = text.match(/npm (ci|install)[^\n]*/g) ?? []
    expect(installs).toHaveLength(2)
    for (const install of installs) expect(install).toContain(' --ignore-scripts')
    expect(installs[1]).toContain(' --omit=dev')
  })

  it('asks for the status as a sign of health, and has a folder that anybody may write to', () => {
    expect(text).toMatch(/^HEALTHCHECK [^]*?\/api\/v1\/status'/m)
    expect(text).toMatch(/^RUN mkdir -m 1777 data$/m)
  })
})

describe('.dockerignore', () => {
  const dockerignore = readFileSync(join(ROOT, '.dockerignore'), 'utf8')

  it.each([
    '.git',
    '.env',
    'node_modules',
    'dist',
    'build',
    'test',
    'bench',
    'ratesmith-1.0.0.tgz',
  ])('keeps %s out', (name) => {
    expect(isIgnored(dockerignore, name)).toBe(true)
  })

  it.each(['src', 'adapters', 'package-lock.json', 'LICENSE', 'CHANGELOG.md', 'README.md'])(
    'lets %s in',
    (name) => {
      expect(isIgnored(dockerignore, name)).toBe(false)
    },
  )
})

describe('a Dockerfile', () => {
  it('is read with its comments and continued lines', () => {
    const text = '# Why\nFROM base AS a\nRUN one \\\n    # because\n    two\n'
    expect(parseDockerfile(text)).toEqual([
      { base: 'base', name: 'a', steps: [{ instruction: 'RUN', text: 'one two' }] },
    ])
  })

  it.each(['ADD a b', 'run a', 'ARG a', 'FROM a b'])('is refused with %s', (line) => {
    expect(() => parseDockerfile(`${line}\nFROM base\n${line}\n`)).toThrow(`cannot read ${line}`)
  })

  it('is refused with a command that a shell would have to start', () => {
    expect(() => execForm('node cli.js')).toThrow(SyntaxError)
  })
})
