import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, it } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import scripts from '../../scripts/node/package.json' with { type: 'json' }
import { rootOf, serve } from './commands.ts'
import { requireProgram, run, start, temporaryFolder } from './processes.ts'
import { BUN, ROOT } from './runtimes.ts'

const { node } = scripts.dependencies

const dockerfile = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')

function all(instruction: string): string[] {
  return dockerfile.match(new RegExp(`(?<=^${instruction} ).*`, 'gm')) ?? []
}

/** Returns the words of the only `instruction` in exec form. */
function words(instruction: string): string[] {
  const [text = ''] = all(instruction)
  return JSON.parse(text.slice(text.indexOf('[')))
}

describe('the image', () => {
  it('has the versions of Node and of the optional packages that the tests use', () => {
    const versions: Record<string, string> = manifest.devDependencies
    const names = Object.keys(manifest.peerDependencies)
    const packages = names.map((name) => `${name}@${versions[name]}`)
    const stages = all('FROM').map((text) => text.replace(/ AS .*/, ''))
    expect(stages.length).toBeGreaterThan(1)
    expect(new Set(stages)).toEqual(new Set([`node:${node.split('.')[0]}-bookworm-slim`]))
    expect(dockerfile).toContain(` ./ratesmith-*.tgz ${packages.join(' ')}\n`)
  })

  it('is installed without install scripts and without development dependencies', () => {
    const installs = all('RUN').filter((text) => /^npm (ci|install)/.test(text))
    expect(installs).toHaveLength(2)
    for (const install of installs) expect(install).toContain(' --ignore-scripts')
    expect(installs[1]).toContain(' --omit=dev')
  })

  it('runs as an ordinary user, with a data folder that every user may write to', () => {
    expect(all('USER')).toEqual(['node'])
    expect(all('EXPOSE')).toEqual(['8787'])
    expect(all('RUN')).toContain('mkdir -m 1777 data')
  })

  it.each([false, true])(
    'runs the command, with a config file: %s, and stops on SIGTERM',
    async (hasConfig) => {
      const [shell = '', ...args] = words('ENTRYPOINT')
      const folder = temporaryFolder()
      mkdirSync(join(folder, 'node_modules'))
      symlinkSync(ROOT, join(folder, 'node_modules/ratesmith'))
      if (hasConfig) {
        const text = "import { createAccess } from 'ratesmith/access'\n"
        const access = "createAccess({ plans: { public: '1/day' }, anonymous: 'public' })"
        writeFileSync(join(folder, 'config.ts'), `${text}export default { access: ${access} }`)
      }
      const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
      const more = ['--demo', '--port', '0', '--host', '127.0.0.1']
      const running = start(shell, [...args, ...more], { cwd: folder, env })
      const root = await rootOf(running)
      const statuses = [await fetch(`${root}/api/v1/status`), await fetch(`${root}/api/v1/status`)]
      expect(statuses.map(({ status }) => status)).toEqual([200, hasConfig ? 429 : 200])
      expect(await running.end()).toBe(0)
      const refused = await run(shell, [...args, '--prot'], { cwd: folder, env })
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--port') })
    },
  )

  it('refuses a folder in place of the config file, which Docker makes of a missing one', async () => {
    const [shell = '', ...args] = words('ENTRYPOINT')
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(ROOT, join(folder, 'node_modules/ratesmith'))
    mkdirSync(join(folder, 'config.ts'))
    const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
    const ran = await run(shell, [...args, '--demo', '--port', '0'], { cwd: folder, env })
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('got config.ts') })
  })

  it('is healthy only while the server responds', async () => {
    const [node, ...args] = words('HEALTHCHECK')
    expect(node).toBe('node')
    const checkHealth = async (root: string): Promise<number | null> => {
      const own = args.map((word) => word.replace('http://127.0.0.1:8787/', `${root}/`))
      expect(own).not.toEqual(args)
      return (await run(process.execPath, own, { env: { NO_PROXY: '127.0.0.1' } })).code
    }
    const running = serve(['--demo'])
    const root = await rootOf(running)
    expect(await checkHealth(root)).toBe(0)
    expect(await checkHealth(await rootOf(serve(['--demo', '--base-path', '/other'])))).toBe(0)
    expect(await running.end()).toBe(0)
    expect(await checkHealth(root)).toBe(1)
  })
})

describe('compose.yaml', () => {
  it('starts a server and Redis with minimal rights, and publishes the server on this machine', async ({
    skip,
  }) => {
    const [name, bun] = BUN
    requireProgram(name, bun, skip)
    const program = `console.log(JSON.stringify(Bun.YAML.parse(await Bun.file('compose.yaml').text())))`
    const { services } = JSON.parse((await run(bun, ['-e', program])).stdout)
    const { server, redis } = services
    expect(Object.keys(services)).toEqual(['server', 'redis'])
    const security_opt = ['no-new-privileges:true']
    for (const service of [server, redis]) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt })
    }
    expect(server).toMatchObject({ ports: ['${RATESMITH_PUBLISH:-127.0.0.1:8787}:8787'] })
    expect(redis).not.toHaveProperty('ports')
  })
})

function read(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8')
}
