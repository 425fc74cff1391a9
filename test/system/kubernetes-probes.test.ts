import { join } from 'node:path'

import { expect, it } from 'vitest'

import { openPage } from '../release/documentation/page.ts'
import { piped, rootOf, serve } from './commands.ts'
import { temporaryFolder } from './processes.ts'
import { NODE } from './runtimes.ts'
import { freePort } from './sockets.ts'

const { blocks } = openPage('docs/public-api.md')
const manifest =
  blocks.find(({ language, text }) => language === 'yaml' && /^kind: Deployment$/m.test(text))
    ?.text ?? ''

/** The container's ports by name. */
const PORTS = new Map(
  Array.from(
    manifest.matchAll(/\{ name: (\w+), containerPort: (\d+) \}/g),
    ([, name = '', port]) => [name, Number(port)],
  ),
)

/** Returns the path and the port of a probe. */
function probeOf(name: string): { path: string; port: number | undefined } {
  const pattern = new RegExp(`${name}Probe:\\n +httpGet: \\{ path: (\\S+), port: (\\w+) \\}`)
  const [, path = '', port = ''] = pattern.exec(manifest) ?? []
  return { path, port: PORTS.get(port) }
}

/** The container's flags. */
function flagsOf(): string[] {
  const [, list = ''] = /\n +args:\n((?: +- --.*\n)+)/.exec(manifest) ?? []
  return Array.from(list.matchAll(/- (--.*)/g), ([, flag = '']) => flag)
}

it('has the probes, the ports and the flags of the manifest', async () => {
  const flags = flagsOf()
  const keys = join(temporaryFolder(), 'keys.json')
  const created = await piped(NODE, ['keys', 'create', '--plan=pro', '--name=a', '--keys', keys])
  expect(created.code).toBe(0)
  const internal = await freePort()
  const running = serve([
    // Without a network, synthetic rates take the place of the providers.
    '--demo',
    ...flags.filter((flag) => !/^--(?:latest|history)=/.test(flag)),
    `--keys=${keys}`,
    `--metrics-port=${internal}`,
  ])
  const http = Number(new URL(await rootOf(running)).port)
  expect(flags).toContain(`--metrics-port=${PORTS.get('internal')}`)
  expect(PORTS.get('http')).toBe(8787)
  const actual = new Map([
    [PORTS.get('http'), http],
    [PORTS.get('internal'), internal],
  ])
  const statusOf = async (name: string): Promise<number> => {
    const { path, port } = probeOf(name)
    return (await fetch(`http://127.0.0.1:${actual.get(port)}${path}`)).status
  }
  expect(await statusOf('startup')).toBe(200)
  expect(await statusOf('liveness')).toBe(200)
  await expect.poll(() => statusOf('readiness')).toBe(200)
  expect(manifest).toContain('targetPort: http')
  // `preStop`, responses in progress and a margin.
  const [, grace] = /terminationGracePeriodSeconds: (\d+)/.exec(manifest) ?? []
  const [, pause] = /preStop: \{ sleep: \{ seconds: (\d+) \} \}/.exec(manifest) ?? []
  expect(Number(grace)).toBeGreaterThan(Number(pause) + 10)
})
