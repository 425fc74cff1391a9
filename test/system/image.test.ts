import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, it } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import scripts from '../../scripts/node/package.json' with { type: 'json' }
import { rootOf, serve } from './commands.ts'
import { run, start, temporaryFolder } from './processes.ts'
import { ROOT } from './runtimes.ts'

const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
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

/** Returns the entry point of the image, and a folder in which the package is installed. */
function install() {
  const [shell = '', ...args] = words('ENTRYPOINT')
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'node_modules'))
  symlinkSync(ROOT, join(cwd, 'node_modules/ratesmith'))
  const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
  return { shell, args, cwd, config: join(cwd, 'config.ts'), surroundings: { cwd, env } }
}

describe('the image', () => {
  it('has the versions that the tests use, no install scripts, and an ordinary user', () => {
    const versions: Record<string, string> = manifest.devDependencies
    const names = Object.keys(manifest.peerDependencies)
    const packages = names.map((name) => `${name}@${versions[name]}`)
    expect(dockerfile).toContain(` ./ratesmith-*.tgz ${packages.join(' ')}\n`)
    const [major] = scripts.dependencies.node.split('.')
    const stages = all('FROM').map((text) => text.replace(/ AS .*/, ''))
    expect(new Set(stages)).toEqual(new Set([`node:${major}-bookworm-slim`]))
    const installs = all('RUN').filter((text) => /^npm (ci|install)/.test(text))
    expect(installs).toEqual(Array(2).fill(expect.stringContaining(' --ignore-scripts')))
    expect([all('USER'), all('EXPOSE')]).toEqual([['node'], ['8787']])
  })

  it.each([false, true])(
    'runs the command, with a config file: %s, and stops on SIGTERM',
    async (hasConfig) => {
      const { shell, args, config, surroundings } = install()
      if (hasConfig) {
        const access = "createAccess({ plans: { public: '1/day' }, anonymous: 'public' })"
        const text = `import { createAccess } from 'ratesmith/access'\nexport default { access: ${access} }`
        writeFileSync(config, text)
      }
      const more = ['--demo', '--port', '0', '--host', '127.0.0.1']
      const running = start(shell, [...args, ...more], surroundings)
      const root = await rootOf(running)
      const statuses = [await fetch(`${root}/api/v1/status`), await fetch(`${root}/api/v1/status`)]
      expect(statuses.map(({ status }) => status)).toEqual([200, hasConfig ? 429 : 200])
      expect(await running.end()).toBe(0)
    },
  )

  it('refuses a folder in place of the config file, which Docker makes of a missing one', async () => {
    const { shell, args, config, surroundings } = install()
    mkdirSync(config)
    const ran = await run(shell, [...args, '--demo', '--port', '0'], surroundings)
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
    const running = serve(['--demo', '--base-path', '/other'])
    const root = await rootOf(running)
    expect(await checkHealth(root)).toBe(0)
    expect(await running.end()).toBe(0)
    expect(await checkHealth(root)).toBe(1)
  })
})
