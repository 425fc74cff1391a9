import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

import { mountContract } from '../conformance/mount-contract.ts'
import { run, temporaryFolder } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'
import { freePort } from '../system/sockets.ts'
import { openUpstreams } from '../system/upstreams.ts'
import { requestServer, startJob } from './documentation/code.ts'
import type { Job } from './documentation/code.ts'
import { filesOf, openPage } from './documentation/page.ts'
import { withoutOwnVariables } from './documentation/site.ts'

interface App {
  /** The folder in `test/apps` with its other files. */
  folder: string
  /** The module type of its `package.json` (default `module`). */
  type?: 'module' | 'commonjs'
  /** The command that builds it; all commands are in `node_modules/.bin`. */
  build: string
  /** The command that starts the build on `PORT`, or on `${port}` if it does not read the variable. */
  start: string
  /** Its own routes below the prefix of the handler (default `/api/users`). */
  routes?: string[]
}

const NEST: App = { folder: 'nestjs', build: 'tsc', start: 'node dist/main.js' }

/** All frameworks of the guide that need a build, by the names there. */
const APPS: Record<string, App> = {
  'Next.js': { folder: 'next', build: 'next build', start: 'next start -H 127.0.0.1 -p ${port}' },
  SvelteKit: { folder: 'sveltekit', build: 'vite build', start: 'node build/index.js' },
  Astro: { folder: 'astro', build: 'astro build', start: 'node dist/server/entry.mjs' },
  'React Router': {
    folder: 'react-router',
    build: 'react-router build',
    start: 'react-router-serve build/server/index.js',
    routes: [],
  },
  'Nitro 2': {
    folder: 'nitro-2',
    build: 'nitropack build',
    start: 'node .output/server/index.mjs',
  },
  Nuxt: { folder: 'nuxt', build: 'nuxt build', start: 'node .output/server/index.mjs' },
  'Nitro 3': { folder: 'nitro-3', build: 'nitro build', start: 'node .output/server/index.mjs' },
  'NestJS on Express': { ...NEST, type: 'commonjs' },
  'NestJS on Fastify': NEST,
}

/** For apps that do not check types when they are built. */
const CHECK_TYPES =
  'tsc --noEmit --strict --skipLibCheck --target es2023 --module esnext --moduleResolution bundler --types node'

const TIMEOUT_MS = 1_200_000

const FILES = openPage('docs/mounting.md').blocks.flatMap((block) =>
  filesOf(block).map((file) => ({ ...file, text: block.text })),
)

let root: string
let upstreams: Awaited<ReturnType<typeof openUpstreams>>

beforeAll(async () => {
  const { code, stderr } = await run('npm', ['run', '--silent', 'tools', '--', 'apps'])
  if (code !== 0) throw new Error(stderr)
  root = realpathSync(temporaryFolder(afterAll))
  // The frameworks are found one folder further up than the package; bundlers follow no links out of the folder.
  mkdirSync(join(root, 'apps'))
  for (const name of ['package.json', 'package-lock.json', 'node_modules'])
    execFileSync('cp', ['-a', join(ROOT, 'test/apps', name), root])
  execFileSync('cp', ['-a', join(inject('installed').folder, 'node_modules'), join(root, 'apps')])
  const program = 'test/release/documentation/upstream-program.ts'
  copyFileSync(join(ROOT, program), join(root, 'upstream.mts'))
  upstreams = await openUpstreams()
}, TIMEOUT_MS)

afterAll(() => upstreams.close())

it('knows every framework of the guide that needs a build', () => {
  expect([...new Set(FILES.map(({ framework }) => framework))]).toEqual(Object.keys(APPS))
})

describe.each(Object.entries(APPS))('%s, mounted as in the guide', (framework, app) => {
  let origin: string
  let server: Job | undefined

  beforeAll(async () => {
    const { folder, files } = writeApp(framework, app)
    const port = String(await freePort())
    const env = environment(port)
    const checked = app.build === 'tsc' ? [] : [[CHECK_TYPES, ...files].join(' ')]
    for (const command of [...checked, app.build]) {
      await startJob(command.split(' '), { folder, env }, TIMEOUT_MS).succeed()
    }
    server = startJob(app.start.replace('${port}', port).split(' '), { folder, env }, TIMEOUT_MS)
    origin = `http://127.0.0.1:${port}`
    await requestServer(server, `${origin}/api/v1/status`)
  }, TIMEOUT_MS)

  afterAll(() => server?.stop())

  it.each(mountContract(() => ({ url: `${origin}/api` })))('$name', async ({ run: check }) => {
    await expect(check()).resolves.toBeUndefined()
  })

  it.each(app.routes ?? ['/api/users'])('keeps %s, a route of the app', async (path) => {
    const response = await fetch(origin + path)
    expect([response.status, await response.text()]).toEqual([200, '["Ada","Grace"]'])
  })
})

function writeApp(framework: string, { folder: name, type = 'module' }: App) {
  const folder = join(root, 'apps', framework.replaceAll(/\W+/g, '-').toLowerCase())
  cpSync(join(ROOT, 'test/apps', name), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type }))
  const shown = FILES.filter((file) => file.framework === framework)
  for (const { path, text } of shown) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    if (existsSync(join(folder, path))) throw new Error(`${path} is in test/apps and in the guide`)
    writeFileSync(join(folder, path), text)
  }
  return { folder, files: shown.map(({ path }) => path) }
}

/** Returns additions to this process's environment for an app, with which no request leaves the machine. */
function environment(port: string): NodeJS.ProcessEnv {
  return {
    ...withoutOwnVariables(),
    PATH: `${join(root, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env['PATH']}`,
    HOST: '127.0.0.1',
    PORT: port,
    NODE_OPTIONS: `--import ${join(root, 'upstream.mts')}`,
    DOCUMENTATION_UPSTREAM: upstreams.url,
    ASTRO_TELEMETRY_DISABLED: '1',
    NEXT_TELEMETRY_DISABLED: '1',
    NUXT_TELEMETRY_DISABLED: '1',
  }
}
