import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { run, urlOf } from './run.ts'
import type { Surroundings } from './run.ts'

/** The hosts that `ratesmith doctor` calls, in order of preference, and every URL. */
async function examine(
  args: string[] = [],
  surroundings: Surroundings = {},
): Promise<{ latest: string[]; history: string[]; calls: string[] }> {
  const calls: string[] = []
  const { stdout } = await run(['doctor', '--json', ...args], {
    fetch: async (input) => {
      calls.push(urlOf(input))
      throw new Error('connect ECONNREFUSED')
    },
    ...surroundings,
  })
  const { findings }: { findings: { subject: string }[] } = JSON.parse(stdout)
  const subjects = findings.map(({ subject }) => subject.split(', '))
  const hostsOf = (dataSet: string): string[] =>
    subjects.flatMap(([first, , host = '']) => (first === `${dataSet} rates` ? [host] : []))
  return { latest: hostsOf('latest'), history: hostsOf('history'), calls }
}

const DEFAULTS = { latest: ['open.er-api.com'], history: ['api.frankfurter.dev'] }

describe('the choice of providers', () => {
  it.each([
    {},
    { RATESMITH_LATEST: '', RATESMITH_HISTORY: '', RATESMITH_LATEST_URL: '' },
    { RATESMITH_LATEST: 'exchange-rate-api', RATESMITH_HISTORY: 'frankfurter' },
  ])('falls back to one provider of each data set: %j', async (env) => {
    expect(await examine([], { env })).toMatchObject(DEFAULTS)
  })

  it('prefers a flag to the environment, and keeps the order', async () => {
    const env = { RATESMITH_LATEST: 'ecb', RATESMITH_HISTORY: 'frankfurter-v2, ecb' }
    const { latest, history, calls } = await examine(['--latest', 'fawazahmed0,ecb'], { env })
    expect(latest).toEqual([expect.stringContaining('currency-api'), 'www.ecb.europa.eu'])
    expect(history).toEqual(['api.frankfurter.dev', 'www.ecb.europa.eu'])
    expect(calls).toContainEqual(expect.stringContaining('://api.frankfurter.dev/v2/'))
  })

  it('takes the root of a single provider as it is', async () => {
    const { latest, calls } = await examine([], {
      env: { RATESMITH_LATEST_URL: 'http://a.example/x,y' },
    })
    expect(latest).toEqual(['a.example'])
    expect(calls).toContain('http://a.example/x,y/v6/latest/USD')
  })

  it('takes one root or nothing for each of several providers', async () => {
    const env = { RATESMITH_HISTORY_URL: 'http://a.example,,http://c.example' }
    const { history } = await examine(['--history', 'ecb,frankfurter,frankfurter-v2'], { env })
    expect(history).toEqual(['a.example', 'api.frankfurter.dev', 'c.example'])
  })

  it.each([
    [
      ['--latest', 'frankfurter'],
      {},
      /: --latest must name exchange-rate-api, .* or currencyapi, got/,
    ],
    [['--latest', 'open-exchange-rate'], {}, /Did you mean open-exchange-rates\? /],
    [
      ['--history', 'currencyapi'],
      {},
      /: --history must name frankfurter, frankfurter-v2 or ecb, got currencyapi \(/,
    ],
    [['--history', 'ecb,'], {}, /, got nothing \(/],
    [['--history='], {}, /, got nothing \(/],
    [['--latest', 'toString'], {}, /, got toString \(/],
    [[], { RATESMITH_HISTORY: 'ebc' }, /: RATESMITH_HISTORY must .*, got ebc\. Did you mean ecb\?/],
    [['--history', 'ecb,frankfurter,ecb'], {}, /: --history names ecb twice \(/],
    [
      ['--latest', 'ecb,fawazahmed0'],
      { RATESMITH_LATEST_URL: 'https://a.example' },
      /: RATESMITH_LATEST_URL must have a root, or nothing, for each of ecb, fawazahmed0/,
    ],
    [
      ['--latest', 'currencyapi'],
      {},
      /: currencyapi needs a key: set RATESMITH_CURRENCYAPI_KEY \(/,
    ],
    [[], { RATESMITH_LATEST_URL: 'a.example' }, /: RATESMITH_LATEST_URL: url must be an absolute/],
  ])('is refused: %j with %j', async (args, env, message) => {
    const { code, stdout, stderr } = await run(['latest', ...args], { env })
    expect(stderr).toMatch(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it('is refused without the passwords in it', async () => {
    const RATESMITH_LATEST_URL =
      'https://a:first-word@one.example,https://b:second-word@two.example'
    const args = ['doctor', '--latest', 'exchange-rate-api,ecb']
    const { code, stdout, stderr } = await run(args, { env: { RATESMITH_LATEST_URL } })
    expect(stdout + stderr).not.toMatch(/(first|second)-word/)
    expect(code).toBe(2)
  })
})

describe('the names of providers', async () => {
  const page = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8')
  const { stdout: help } = await run(['serve', '--help'])

  /** The names that a flag takes, as its refusal lists them. */
  async function namesOf(flag: string): Promise<string[]> {
    const { stderr } = await run(['latest', `${flag}=none`])
    const [, list = ''] = / must name (.*), got /.exec(stderr) ?? []
    return list.split(/, | or /)
  }
  const latest = await namesOf('--latest')
  const history = await namesOf('--history')

  /** The variable that `name` needs a key in; empty where it needs none. */
  async function keyVariableOf(name: string): Promise<string> {
    const { stderr } = await run(['latest', `--latest=${name}`])
    return / needs a key: set (\w+)/.exec(stderr)?.[1] ?? ''
  }

  it.each([
    ['latest', latest],
    ['history', history],
  ])('are all in the help, of %s', (dataSet, names) => {
    expect(names.length).toBeGreaterThan(2)
    const list = new RegExp(`^  ${dataSet}   ?((?:.|\\n {11})*)`, 'm')
    const [, told = ''] = list.exec(help.split('Providers,')[1] ?? '') ?? []
    expect(told.trim().split(/,\s+/)).toEqual(
      names.map((name, index) => (index === 0 ? `${name} (default)` : name)),
    )
  })

  it('are all in the page of the command line, with their data sets and keys', async () => {
    const [, section = ''] = page.split('\n### Providers by name\n')
    for (const name of new Set([...latest, ...history])) {
      const row = section.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? ''
      const cells = row.split('|').map((cell) => cell.trim())
      const variable = latest.includes(name) ? await keyVariableOf(name) : ''
      const told = [cells[2] !== '', cells[3] !== '', cells[4]]
      const key = variable === '' ? '' : `\`${variable}\``
      expect(told, name).toEqual([latest.includes(name), history.includes(name), key])
    }
  })

  it('have keys that the doctor never shows', async () => {
    const variables = await Promise.all(latest.map(keyVariableOf))
    const keyed = latest.filter((_, index) => variables[index] !== '')
    expect(keyed.length).toBeGreaterThan(2)
    const env = Object.fromEntries(
      variables.map((variable, index) => [variable, `0123456789abcdef0123456789abcde${index}`]),
    )
    const { stdout } = await run(['doctor', '--latest', keyed.join(',')], {
      env,
      fetch: async () => {
        throw new Error(`refused ${Object.values(env).join(' ')}`)
      },
    })
    expect(stdout).toContain('refused')
    expect(stdout.match(/…/g)?.length).toBeGreaterThanOrEqual(keyed.length)
    for (const name of keyed) {
      expect(stdout).not.toContain(env[variables[latest.indexOf(name)] ?? ''])
    }
  })
})
