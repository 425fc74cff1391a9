import { readdirSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { examine, run, urlOf } from './run.ts'

/** Returns the hosts that `ratesmith doctor` calls, in order of preference, and every URL. */
async function hostsOf(args: string[], env: NodeJS.ProcessEnv) {
  const calls: string[] = []
  const fetch: typeof globalThis.fetch = async (input) => {
    calls.push(urlOf(input))
    throw new Error('connect ECONNREFUSED')
  }
  const findings = await examine(args, { env, fetch })
  const of = (dataSet: string): string[] =>
    findings
      .map(({ subject }) => subject.split(', '))
      .flatMap(([first, , host = '']) => (first === `${dataSet} rates` ? [host] : []))
  return { latest: of('latest'), history: of('history'), calls }
}

describe('the choice of providers', () => {
  it.each([{}, { RATESMITH_LATEST: '', RATESMITH_HISTORY: '', RATESMITH_LATEST_URL: '' }])(
    'falls back to one provider of each data set: %j',
    async (env) => {
      const { latest, history, calls } = await hostsOf([], env)
      expect(latest).toEqual(['open.er-api.com'])
      // The last of its hosts.
      expect(history).toEqual(['www.ecb.europa.eu'])
      expect(calls).toContainEqual(expect.stringContaining('://api.frankfurter.dev/v1/'))
    },
  )

  it('prefers flags over the environment, and keeps the order', async () => {
    const env = { RATESMITH_LATEST: 'ecb', RATESMITH_HISTORY: 'norges-bank, frankfurter' }
    const { latest, history, calls } = await hostsOf(['--latest', 'fawazahmed0,ecb'], env)
    expect(latest).toEqual([expect.stringContaining('currency-api'), 'www.ecb.europa.eu'])
    expect(history).toEqual(['data.norges-bank.no', 'www.ecb.europa.eu'])
    expect(calls).toContainEqual(expect.stringContaining('://api.frankfurter.dev/v2/'))
  })

  it('accepts commas in the root of a single provider, and one root or none for each of several', async () => {
    const { calls } = await hostsOf([], { RATESMITH_LATEST_URL: 'http://a.example/x,y' })
    expect(calls).toContain('http://a.example/x,y/v6/latest/USD')
    const env = { RATESMITH_HISTORY_URL: 'http://a.example,,http://c.example' }
    const { history } = await hostsOf(['--history', 'ecb,norges-bank,frankfurter'], env)
    expect(history).toEqual(['a.example', 'data.norges-bank.no', 'c.example'])
  })
})

describe('the names of providers', async () => {
  const latest = await namesOf('latest')
  const history = await namesOf('history')

  async function namesOf(flag: string): Promise<string[]> {
    const { stderr } = await run(['latest', `--${flag}=none`])
    return (/ must be (.*), got /.exec(stderr)?.[1] ?? '').split(/, | or /)
  }

  /** Returns the cells of the lines of the table in the help, without the mark of the defaults. */
  async function tableInHelp(): Promise<string[][]> {
    const { stdout } = await run(['help', 'providers'])
    const [, table = ''] = stdout.split(/\nname .*\n/)
    const lines = table.trimEnd().split('\n')
    return lines.map((line) => line.replace(' *', '').split(/ {2,}/))
  }

  it('are all in the help, with country, currencies, data, key and whether rates may be passed on', async () => {
    const rows = await tableInHelp()
    const named = (data: string) =>
      rows.flatMap(([name = '', , , of = '']) => ([data, 'both'].includes(of) ? [name] : []))
    expect({ latest: named('latest'), history: named('history') }).toEqual({ latest, history })
    expect(rows).toContainEqual(['norges-bank', 'Norway', '40', 'both', '-', 'with credit'])
    expect(rows).toContainEqual(['tcmb', 'Türkiye', '20', 'both', 'yes', 'unknown'])
  })

  it('are those of all files in src/providers with an upstream', () => {
    const folder = new URL('../../src/providers/', import.meta.url)
    const files = ['.', 'banks']
      .flatMap((each) => readdirSync(new URL(each, folder)))
      .filter((file) => file.endsWith('.ts') && file !== 'index.ts')
      .map((file) => file.slice(0, -'.ts'.length))
    const unnamed = files.filter((file) => !latest.includes(file) && !history.includes(file))
    // They derive providers from others.
    expect(unnamed.toSorted()).toEqual(['derived', 'official-pegs'])
  })
})
