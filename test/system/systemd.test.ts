import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeEach, describe, expect, it } from 'vitest'

import { openPage } from '../release/documentation/page.ts'
import { CLI, piped, rootOf } from './commands.ts'
import { requireProgram, run, start, temporaryFolder } from './processes.ts'
import { NODE, ROOT } from './runtimes.ts'

const ANALYZE = '/usr/bin/systemd-analyze'

/** In tenths: 1.5 of 10. */
const MAX_EXPOSURE = 15

const { blocks } = openPage('docs/run-it.md')
const unit = blocks.find(({ language }) => language === 'ini')?.text ?? ''

function writeUnit(text: string): string {
  const path = join(temporaryFolder(), 'ratesmith.service')
  writeFileSync(path, text.replace('/usr/bin/node', process.execPath))
  return path
}

function analyze(...args: string[]): ReturnType<typeof run> {
  return run(ANALYZE, args, { env: { SYSTEMD_PAGER: '', LC_ALL: 'C.UTF-8' } })
}

describe('the unit for systemd', () => {
  beforeEach(({ skip }) => requireProgram('systemd', ANALYZE, skip))

  it('is valid', async () => {
    const { code, stderr } = await analyze('verify', '--man=no', writeUnit(unit))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const wrong = await analyze('verify', '--man=no', writeUnit(unit.replace('strict', 'strct')))
    expect(wrong.stderr).toContain('strct')
  })

  it('has an exposure of at most 1.5', async () => {
    const threshold = [`--threshold=${MAX_EXPOSURE}`, '--no-pager']
    const args = ['security', '--offline=true', ...threshold]
    expect(await analyze(...args, writeUnit(unit))).toMatchObject({ code: 0 })
    const open = unit.replace(/^ProtectSystem=[^]*?\n\n/m, '\n')
    expect(open.length).toBeLessThan(unit.length - 300)
    expect((await analyze(...args, writeUnit(open))).code).not.toBe(0)
  })
})

it('starts the server with the flags and the config file of the unit', async () => {
  const [, line = ''] = /^ExecStart=((?:.*\\\n)*.*)/m.exec(unit) ?? []
  const [program, script, ...flags] = line.replaceAll('\\\n', ' ').split(/ +/)
  expect([program, script?.endsWith('/ratesmith/dist/cli.js')]).toEqual(['/usr/bin/node', true])
  const folder = temporaryFolder()
  const keys = join(folder, 'keys.json')
  const created = await piped(NODE, ['keys', 'create', '--plan=pro', '--name=a', '--keys', keys])
  expect(created.code).toBe(0)
  const own = flags.map((flag) =>
    flag
      .replace('/var/lib/ratesmith', folder)
      .replace('/opt/ratesmith/config.mts', join(ROOT, 'examples/serve-public.ts')),
  )
  const [, variable = '', value = ''] = /^Environment=(\w+)=(.*)$/m.exec(unit) ?? []
  const env = { [variable]: value.replace('/var/lib/ratesmith', folder) }
  const running = start(process.execPath, [CLI, ...own, '--port=0'], { env })
  const root = await rootOf(running)
  expect((await fetch(`${root}/healthz`)).status).toBe(200)
  expect(running.stdout).not.toContain('The terms of')
  const headers = { authorization: `Bearer ${created.stdout.trim()}` }
  const response = await fetch(`${root}/api/v1/status`, { headers })
  expect(response.headers.get('ratelimit-policy')).toBe('"burst";q=600;w=60, "month";q=100000')
  expect(await running.end()).toBe(0)
})
