import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { HELP } from '../../src/cli/help.ts'
import { DEFAULT_NAMES, chooseProviders, namesOf } from '../../src/cli/provider-choice.ts'
import { KEY_VARIABLES, PROVIDERS } from '../../src/cli/providers.ts'
import { UsageError } from '../../src/cli/usage-error.ts'

const DEFAULTS = {
  latest: [{ name: 'exchange-rate-api', url: undefined }],
  history: [{ name: 'frankfurter', url: undefined }],
}

function refusal(flags: object, env: NodeJS.ProcessEnv = {}): string {
  try {
    chooseProviders(flags, env)
  } catch (error) {
    return error instanceof UsageError ? error.message : 'another error'
  }
  return 'none'
}

describe('chooseProviders', () => {
  it('has one of each where nobody says, or nothing', () => {
    expect(chooseProviders({}, {})).toEqual(DEFAULTS)
    const empty = { RATESMITH_LATEST: '', RATESMITH_HISTORY: '', RATESMITH_LATEST_URL: '' }
    expect(chooseProviders({ latest: undefined }, empty)).toEqual(DEFAULTS)
  })

  it('takes a flag for more than the environment, and keeps the order', () => {
    const env = { RATESMITH_LATEST: 'ecb', RATESMITH_HISTORY: 'frankfurter-v2, ecb' }
    const { latest, history } = chooseProviders({ latest: 'fawazahmed0,ecb' }, env)
    expect(latest.map(({ name }) => name)).toEqual(['fawazahmed0', 'ecb'])
    expect(history.map(({ name }) => name)).toEqual(['frankfurter-v2', 'ecb'])
  })

  it('gives the one its root, and several theirs in turn', () => {
    const one = chooseProviders({}, { RATESMITH_LATEST_URL: 'http://a.example/x,y' })
    expect(one).toEqual({
      ...DEFAULTS,
      latest: [{ name: 'exchange-rate-api', url: 'http://a.example/x,y' }],
    })
    const env = { RATESMITH_HISTORY_URL: 'http://a.example,,http://c.example' }
    const { history } = chooseProviders({ history: 'ecb,frankfurter,frankfurter-v2' }, env)
    expect(history.map(({ url }) => url)).toEqual([
      'http://a.example',
      undefined,
      'http://c.example',
    ])
  })

  it.each([
    [
      { latest: 'frankfurter' },
      {},
      /^--latest must name exchange-rate-api, .* or currencyapi, got/,
    ],
    [{ latest: 'open-exchange-rate' }, {}, /Did you mean open-exchange-rates\?$/],
    [
      { history: 'currencyapi' },
      {},
      /^--history must name frankfurter, frankfurter-v2 or ecb, got/,
    ],
    [{ history: 'ecb,' }, {}, /, got nothing$/],
    [{ history: '' }, {}, /, got nothing$/],
    [{ latest: 'toString' }, {}, /, got toString$/],
    [{}, { RATESMITH_HISTORY: 'ebc' }, /^RATESMITH_HISTORY must .*, got ebc\. Did you mean ecb\?$/],
    [{ history: 'ecb,frankfurter,ecb' }, {}, /^--history names ecb twice$/],
    [
      { latest: 'ecb,fawazahmed0' },
      { RATESMITH_LATEST_URL: 'https://a.example' },
      /^RATESMITH_LATEST_URL must have a root, or nothing, for each of ecb, fawazahmed0/,
    ],
  ])('refuses %j with %j', (flags, env, message) => {
    expect(refusal(flags, env)).toMatch(message)
  })
})

describe('the names of providers', () => {
  const page = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8')

  it.each(['latest', 'history'] as const)('are all in the help, of %s', (provided) => {
    const [, list = ''] =
      new RegExp(`^  ${provided}   ?((?:.|\\n {11})*)`, 'm').exec(
        HELP.serve.split('Providers,')[1] ?? '',
      ) ?? []
    const names = list.replace(`${DEFAULT_NAMES[provided]} (default)`, DEFAULT_NAMES[provided])
    expect(names.trim().split(/,\s+/)).toEqual(namesOf(provided))
  })

  it('are all in the page of the command line, with what they are of and their keys', () => {
    const [, section = ''] = page.split('\n### Providers by name\n')
    for (const [name, { latest, history, keyVariable }] of Object.entries(PROVIDERS)) {
      const row = section.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? ''
      const cells = row.split('|').map((cell) => cell.trim())
      const told = [cells[2] !== '', cells[3] !== '', cells[4]]
      const key = keyVariable === undefined ? '' : `\`${keyVariable}\``
      expect(told, name).toEqual([latest !== undefined, history !== undefined, key])
    }
  })

  it('come with every variable that holds a key', () => {
    const variables = Object.values(PROVIDERS).flatMap(({ keyVariable }) => keyVariable ?? [])
    expect(variables.sort()).toEqual(Object.values(KEY_VARIABLES).sort())
  })
})
