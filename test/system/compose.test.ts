import { join } from 'node:path'

import { beforeAll, describe, expect, it } from 'vitest'

import { run } from './processes.ts'
import { ROOT } from './root.ts'

let services: Record<string, unknown>

/** The file as Bun reads it: Node has no YAML. */
beforeAll(async () => {
  const program = `console.log(JSON.stringify(Bun.YAML.parse(await Bun.file('compose.yaml').text())))`
  const { stdout } = await run(join(ROOT, 'node_modules/.bin/bun'), ['-e', program])
  services = JSON.parse(stdout).services
})

describe('compose.yaml', () => {
  it('is a server with Redis, both with no more rights than they need', async () => {
    expect(Object.keys(services)).toEqual(['server', 'redis'])
    for (const service of Object.values(services)) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
    }
  })

  it('publishes the server alone, on this machine alone unless told otherwise', async () => {
    const { server, redis } = services
    expect(server).toMatchObject({ ports: ['${RATESMITH_PUBLISH:-127.0.0.1:8787}:8787'] })
    expect(redis).not.toHaveProperty('ports')
  })

  it('starts the server with Redis, once that is healthy', async () => {
    const { server, redis } = services
    expect(server).toMatchObject({
      build: '.',
      environment: { RATESMITH_REDIS_URL: 'redis://redis:6379' },
      depends_on: { redis: { condition: 'service_healthy' } },
      // More than the ten seconds in which answers under way may finish.
      stop_grace_period: '15s',
    })
    expect(redis).toMatchObject({ user: 'redis', healthcheck: { test: expect.anything() } })
  })

  it('is understood by Docker', async ({ skip }) => {
    const { code } = await docker('version').catch(() => ({ code: 1 }))
    if (code !== 0) skip('docker compose is not installed')
    expect(await docker('-f', 'compose.yaml', 'config', '--quiet')).toMatchObject({ code: 0 })
  })
})

async function docker(...args: string[]): Promise<{ code: number | null; stderr: string }> {
  return run('docker', ['compose', ...args])
}
