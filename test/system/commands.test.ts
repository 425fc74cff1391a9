import { beforeEach, describe, expect, it } from 'vitest'

import { run as runHere } from '../cli/run.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { SCRIPT, ageCache, onTerminal, piped, startUpstreams, upstreams } from './commands.ts'
import { describeRuntimes, requireProgram } from './processes.ts'
import { NODE } from './runtimes.ts'

const ATTRIBUTION = 'Rates By Exchange Rate API, https://www.exchangerate-api.com'
const SYNTHETIC = 'Synthetic rates (ratesmith), https://www.npmjs.com/package/ratesmith'

/** Preloaded into a program on Node: makes all waits longer than a test. */
const ENDLESS_WAITS = `data:text/javascript,${encodeURIComponent(`
  import { syncBuiltinESMExports } from 'node:module'
  import timers from 'node:timers/promises'
  const { setTimeout: sleep } = timers
  timers.setTimeout = (delay, ...rest) => sleep(delay * 1_000, ...rest)
  syncBuiltinESMExports()
`)}`

const SATURDAY = '2020-02-29'

const DATED = [
  'convert 100 USD EUR,GBP,JPY',
  `convert 100 USD EUR,GBP,JPY --reverse --date ${SATURDAY}`,
  `convert 100 USD EUR --reverse --date ${SATURDAY}`,
  `latest --date ${SATURDAY}`,
  'history USD EUR --start 2019-01-01 --end 2019-12-31 --interval month',
]

const SAME = [
  ...DATED,
  'convert 1e2 usd eur',
  'convert USD JPY,eur --reverse',
  'convert 5 USD EUR --json',
  'convert 1 USD EUX',
  'convert 1 USD EUX --json',
  'convert USD EUR --date 1998-12-31 --json',
  'latest --symbols JPY,eur',
  'latest --date 1999-01-04 --json',
  'history USD EUR --period 1Y',
  'history USD EUR --start 2019-01-01 --interval week --json',
  'currencies swiss fr',
  'currencies HRK --json',
  'currencies gpb',
]

describeRuntimes('in a pipe', (runtime) => {
  it.each(SAME)('prints the same as in process, with the same exit code: %s', async (args) => {
    const inProcess = () => runHere([...args.split(' '), '--demo'], { now: Date.now })
    const before = await inProcess()
    const ran = await piped(runtime, `${args} --demo`)
    // Rates may be published meanwhile.
    expect([before, await inProcess()]).toContainEqual(ran)
  })

  it('fetches once, and then prints cached rates and their age without the upstream', async () => {
    const { calls, env, stop } = await startUpstreams()
    const first = await piped(runtime, 'convert 100 USD EUR', env)
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(ATTRIBUTION) })
    const history = await piped(runtime, 'history USD EUR', env)
    expect(history).toMatchObject({ code: 0, stderr: expect.stringContaining('European Central') })
    expect(calls).toHaveLength(2)
    expect(await piped(runtime, 'convert 100 USD EUR', env)).toEqual(first)
    expect(calls).toHaveLength(2)
    await stop()
    expect(await piped(runtime, 'history USD EUR', env)).toEqual(history)
    ageCache(env.RATESMITH_CACHE_DIR, 3)
    const offline = await piped(runtime, 'convert 100 USD EUR', env)
    expect(offline).toMatchObject({ code: 0, stdout: first.stdout })
    expect(offline.stderr).toMatch(/^ratesmith: offline\b.*\b[34] days\b.*127\.0\.0\.1/)
  })

  it('waits for newer rates instead of printing old ones', async () => {
    const { calls, env } = await startUpstreams()
    await piped(runtime, 'latest', env)
    ageCache(env.RATESMITH_CACHE_DIR, 3)
    const { stdout, stderr } = await piped(runtime, 'latest --json', env)
    expect(JSON.parse(stdout).updatedAt).toBeGreaterThan(Date.now() - 2 * 86_400_000)
    expect(stderr).toBe('')
    expect(calls).toHaveLength(2)
  })

  it('exits with 1 and the reason without upstream and cache', async () => {
    const { env, stop } = await startUpstreams()
    await stop()
    const { code, stdout, stderr } = await piped(runtime, 'convert 1 USD EUR', env)
    expect(stderr).toMatch(/^ratesmith: [^\n]+ unavailable\b[^\n]+127\.0\.0\.1[^\n]+\n$/)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })

  it('works with an unwritable cache, and stores nothing with --no-cache', async () => {
    const { calls, env } = await startUpstreams()
    const unwritable = { ...env, RATESMITH_CACHE_DIR: '/dev/null/none' }
    expect((await piped(runtime, 'latest', unwritable)).code).toBe(0)
    expect((await piped(runtime, 'latest --no-cache', env)).code).toBe(0)
    expect((await piped(runtime, 'latest', env)).code).toBe(0)
    expect(calls).toHaveLength(3)
  })

  it('exits with 0 if the reader of its output has exited', async () => {
    const [, ...program] = runtime
    const shell = ['-c', '{ "$@"; echo "ended with $?" >&2; } | true', 'sh', ...program]
    const help = await piped(['a shell', '/bin/sh', ...shell], '--help')
    expect(help.stderr).toBe('ended with 0\n')
    const { stderr } = await piped(['a shell', '/bin/sh', ...shell], 'history USD EUR --demo')
    const [end, ...notice] = stderr.trimEnd().split('\n').toReversed()
    expect(end).toBe('ended with 0')
    const { stderr: expected } = await piped(runtime, 'history USD EUR --demo')
    expect(expected).toContain(SYNTHETIC)
    expect(`${notice.toReversed().join('\n')}\n`).toBe(expected)
  })
})

describeRuntimes('on a terminal', (runtime) => {
  beforeEach(({ skip }) => requireProgram('script', SCRIPT, skip))

  const others = ['latest', 'history USD EUR --period 1Y', 'currencies', 'doctor']
  it.each([...DATED, ...others])(
    'fits 40 columns, and conveys nothing by colour alone: %s',
    async (args) => {
      const narrow = await onTerminal(runtime, `${args} --demo`, { columns: 40 })
      expect(Math.max(...narrow.lines.map((line) => line.length))).toBeLessThanOrEqual(40)
      expect(narrow.lines.join(' ').includes(SYNTHETIC)).toBe(!/currencies|doctor/.test(args))
      const withoutSpinner = (raw: string): string => raw.replaceAll('\u001B[K', '')
      expect(withoutSpinner(narrow.raw)).toContain('\u001B[')
      expect(narrow.code).toBe(0)
      const options = { columns: 40, env: { NO_COLOR: '1' } }
      const plain = await onTerminal(runtime, `${args} --demo`, options)
      expect(withoutSpinner(plain.raw)).not.toContain('\u001B')
      expect(plain.lines).toEqual(narrow.lines)
    },
  )
})

describe('the cache', () => {
  it('keeps rates of different upstreams apart', async () => {
    const one = await startUpstreams()
    const other = await startUpstreams()
    const env = { ...other.env, RATESMITH_CACHE_DIR: one.env.RATESMITH_CACHE_DIR }
    for (const each of [one.env, env, one.env, env]) await piped(NODE, 'latest', each)
    expect([one.calls.length, other.calls.length]).toEqual([1, 1])
  })

  it('is used after waiting five seconds for newer rates', async () => {
    let isSilent = false
    const respond = upstreams(openErApiPayload({ now: Date.now() }))
    const { promise: isGivenUp, resolve } = Promise.withResolvers<void>()
    const { calls, env } = await startUpstreams((request, response) => {
      if (isSilent) response.on('close', resolve)
      else respond(request, response)
    })
    await piped(NODE, 'history USD EUR', env)
    ageCache(env.RATESMITH_CACHE_DIR, 8)
    isSilent = true
    const { code, stderr } = await piped(NODE, 'history USD EUR', env)
    expect(stderr).toMatch(/^ratesmith: offline\b.*\b\d+ days\b.*\([^)]+\)/)
    expect(code).toBe(0)
    await isGivenUp
    expect(calls.map((path) => path.slice(0, 4))).toEqual(['/v1/', '/v1/', '/v2/'])
  })
})

it('exits after printing its output, without waiting for its own time limits', async () => {
  const { env, stop } = await startUpstreams()
  await stop()
  const ran = await piped(['Node', NODE[1], '--import', ENDLESS_WAITS], 'convert 1 USD EUR', env)
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('unavailable') })
})
