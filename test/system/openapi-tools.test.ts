import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { build as bundle } from 'esbuild'
import { createRatesHandler } from 'ratesmith'
import { createAccess } from 'ratesmith/access'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { followedPages } from '../release/documentation/page.ts'
import { serveForSuite } from './commands.ts'
import { requireProgram, run, temporaryFolder } from './processes.ts'
import { ROOT, findPackage } from './runtimes.ts'

const OFFLINE = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

const DOCUMENT = readFileSync(join(ROOT, 'src/generated/openapi.json'), 'utf8')

function programOf(name: string): string {
  return join(ROOT, 'node_modules/.bin', name)
}

function needPackages(...names: string[]): void {
  beforeEach(({ skip }) => {
    for (const name of names) requireProgram(name, findPackage(name) ?? '', skip)
  })
}

describe.each<[name: string, ...flags: string[]]>([
  ['redocly', '--extends=recommended'],
  ['spectral', '--fail-severity=hint', '--ruleset=ruleset.json'],
])('%s', (name, ...flags) => {
  needPackages('@redocly/cli', '@stoplight/spectral-cli')

  it('finds no problem in the document, also of a handler with access', async () => {
    const plans = { free: '60/min' } as const
    const access = createAccess({ plans, anonymous: 'free', queryParameters: ['access_key'] })
    const request = new Request('http://localhost/api/v1/openapi.json')
    const text = await (await createRatesHandler({ access })(request)).text()
    expect(text).toContain('"queryKey1"')
    const cwd = temporaryFolder()
    const files = { 'plain.json': DOCUMENT, 'access.json': text }
    const ruleset = { 'ruleset.json': JSON.stringify({ extends: ['spectral:oas'] }) }
    for (const [file, each] of Object.entries({ ...files, ...ruleset })) {
      writeFileSync(join(cwd, file), each)
    }
    const args = ['lint', '--format=json', ...flags, ...Object.keys(files)]
    const { code, stdout, stderr } = await run(programOf(name), args, { cwd, env: OFFLINE })
    expect([code, stdout.match(/"(?:ruleId|code)": *"[^"]*"/g)], stdout + stderr).toEqual([0, null])
  })
})

type Command = [name: string, ...args: string[]]

const PRINT = `console.log(JSON.stringify({ rates, points: points?.length, result, code, provider }))
// @ts-expect-error the codes of errors are known
void (code === 'oops')`

const PROCESS = 'declare const process: { argv: [string, string, string] }'

const FETCH_PROGRAM = `import createClient from 'openapi-fetch'
import type { paths } from './rates.d.ts'
${PROCESS}
const querySerializer = { array: { style: 'form', explode: false } } as const
const { GET } = createClient<paths>({ baseUrl: process.argv[2], querySerializer })
const pair = { from: 'USD', to: 'EUR' }
const some = { base: 'GBP', symbols: ['EUR', 'USD'] }
const rates = (await GET('/v1/latest', { params: { query: some } })).data?.rates
const week = { ...pair, period: '1W' } as const
const history = (await GET('/v1/history', { params: { query: week } })).data
const points = history && 'points' in history ? history.points : undefined
await GET('/v1/convert', { params: { query: { ...pair, amount: '100' } } })
const { data } = await GET('/v1/convert', { params: { query: { ...pair, amount: 100 } } })
const result = data && 'result' in data ? data.result : undefined
const { error } = await GET('/v1/latest', { params: { query: { base: 'XYZ' } } })
const code = error?.error.code
const provider = (await GET('/rates', {})).data?.provider
const asCsv = { params: { query: { format: 'csv' } }, parseAs: 'text' } as const
const csv: string | undefined = (await GET('/v1/latest', asCsv)).data
if (!csv?.startsWith('base,code,rate,')) throw new Error(csv)
const asLines = { params: { query: { start: '2026-01-02' } }, parseAs: 'text' } as const
const lines: string | undefined = (await GET('/v1/days', asLines)).data
if (!lines?.startsWith('{"date":"2026-01-02",')) throw new Error(lines)
${PRINT}`

const DOCUMENTED = followedPages()
  .flatMap(({ blocks }) => blocks)
  .find(({ language, text }) => language === 'ts' && text.includes("'openapi-fetch'"))

/** Compares the public types with those of another reader of the document. */
const TYPES_PROGRAM = `import { expectTypeOf } from 'expect-type'
import type * as ours from '${join(ROOT, 'src/index.ts')}'
import type * as quotes from '${join(ROOT, 'src/quotes/index.ts')}'
import type { components } from './rates.d.ts'
type Schemas = components['schemas']
type Flat<Type> = Type extends object ? { [Name in keyof Type]: Flat<Type[Name]> } : Type
type Schema<Name extends keyof Schemas> = Flat<Schemas[Name]>
expectTypeOf<Schema<'LatestRates'>>().toEqualTypeOf<Flat<ours.LatestRates>>()
expectTypeOf<Schema<'Conversion'>>().toEqualTypeOf<Flat<ours.Conversion>>()
expectTypeOf<Schema<'ConversionList'>>().toEqualTypeOf<Flat<ours.ConversionList>>()
expectTypeOf<Schema<'QuotedConversion'>>().toEqualTypeOf<Flat<quotes.QuotedConversion>>()
expectTypeOf<Schema<'QuotedConversionList'>>().toEqualTypeOf<Flat<quotes.QuotedConversionList>>()
expectTypeOf<Schema<'RateHistory'>>().toEqualTypeOf<Flat<ours.RateHistory>>()
expectTypeOf<Schema<'HistoryList'>>().toEqualTypeOf<Flat<ours.HistoryList>>()
expectTypeOf<Schema<'RatesDay'>>().toEqualTypeOf<Flat<ours.RatesDay>>()
expectTypeOf<Schema<'ServiceStatus'>>().toEqualTypeOf<Flat<ours.ServiceStatus>>()
expectTypeOf<Schema<'CurrencyList'>>().toEqualTypeOf<Flat<ours.CurrencyList>>()
type AccessCode = 'unauthorized' | 'forbidden' | 'rate_limited'
expectTypeOf<Schemas['Error']['error']['code']>().toEqualTypeOf<Exclude<ours.RatesErrorCode, AccessCode>>()`

const HEY_API_PROGRAM = `import { convert, getHistory, getLatest, getUnversionedRates } from './hey-api'
import { client } from './hey-api/client.gen'
${PROCESS}
client.setConfig({ baseUrl: process.argv[2] })
const pair = { from: 'USD', to: 'EUR' }
const rates = (await getLatest({ query: { base: 'GBP', symbols: ['EUR', 'USD'] } })).data?.rates
const history = (await getHistory({ query: { ...pair, period: '1W' } })).data
const points = history && 'points' in history ? history.points : undefined
await convert({ query: { ...pair, amount: '100' } })
const { data } = await convert({ query: { ...pair, amount: 100 } })
const result = data && 'result' in data ? data.result : undefined
const { error } = await getLatest({ query: { base: 'XYZ' } })
const code = error?.error.code
const provider = (await getUnversionedRates()).data?.provider
${PRINT}`

const ORVAL_PROGRAM = `import { convert, getHistory, getLatest, getUnversionedRates } from './orval/client'
import { ConvertResponse, GetHistoryResponse, GetLatestResponse } from './orval/schemas'
const pair = { from: 'USD', to: 'EUR' }
const latest = await getLatest({ base: 'GBP', symbols: ['EUR', 'USD'] })
const rates = latest.status === 200 ? latest.data.rates : undefined
const history = await getHistory({ ...pair, period: '1W' })
const points = history.status === 200 && 'points' in history.data ? history.data.points : undefined
await convert({ ...pair, amount: '100' })
const conversion = await convert({ ...pair, amount: 100 })
const result = conversion.status === 200 && 'result' in conversion.data ? conversion.data.result : undefined
GetLatestResponse.parse(latest.data)
GetHistoryResponse.parse(history.data)
ConvertResponse.parse(conversion.data)
const refused = await getLatest({ base: 'XYZ' })
const code = refused.status === 400 ? refused.data.error.code : undefined
const old = await getUnversionedRates()
const provider = old.status === 200 ? old.data.provider : undefined
${PRINT}`

const STRICT = {
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
  module: 'esnext',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  verbatimModuleSyntax: true,
}

describe('a client generated from the document of a running service', () => {
  const server = serveForSuite([])
  const folder = temporaryFolder(afterAll)

  needPackages('@hey-api/openapi-ts', 'openapi-fetch', 'openapi-typescript', 'orval')

  beforeAll(async () => {
    const response = await fetch(`${server.root}/api/v1/openapi.json`)
    writeFileSync(join(folder, 'openapi.json'), await response.text())
    mkdirSync(join(folder, 'node_modules'))
    for (const name of ['expect-type', 'openapi-fetch', 'zod']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
    }
    const settingsOf = (target: string, options: object): object => ({
      input: './openapi.json',
      output: { target, mode: 'single', ...options },
    })
    const clients = {
      client: settingsOf('orval/client.ts', { client: 'fetch', baseUrl: `${server.root}/api` }),
      schemas: settingsOf('orval/schemas.ts', { client: 'zod' }),
    }
    writeFileSync(join(folder, 'orval.mjs'), `export default ${JSON.stringify(clients)}`)
  })

  async function generate([name, ...args]: Command): Promise<void> {
    const { code, stdout, stderr } = await run(programOf(name), args, { cwd: folder })
    expect(code, stdout + stderr).toBe(0)
  }

  /** Compiles programs, by name, under strict flags. */
  async function compile(programs: Record<string, string>, options: object = {}): Promise<void> {
    const files = Object.entries(programs).map(([name, text]) => {
      writeFileSync(join(folder, `${name}.ts`), text)
      return `${name}.ts`
    })
    const compilerOptions = { ...STRICT, ...options }
    const project = join(folder, 'tsconfig.json')
    writeFileSync(project, JSON.stringify({ compilerOptions, files }))
    const compiled = await run(programOf('tsc'), ['-p', project])
    expect(compiled.stdout + compiled.stderr).toBe('')
  }

  async function outputOf(name: string): Promise<string> {
    const outfile = join(folder, `${name}.mjs`)
    const entryPoints = [join(folder, `${name}.ts`)]
    await bundle({ bundle: true, format: 'esm', entryPoints, outfile })
    const { stdout, stderr } = await run(process.execPath, [outfile, `${server.root}/api`])
    expect(stderr).toBe('')
    return stdout
  }

  it('compiles under strict flags and works, by openapi-typescript, orval and openapi-ts', async () => {
    await generate(['openapi-typescript', 'openapi.json', '-o', 'rates.d.ts'])
    await generate(['orval', '--config', 'orval.mjs'])
    await generate(['openapi-ts', '-i', 'openapi.json', '-o', 'hey-api', '--no-log-file'])
    await compile({ fetch: FETCH_PROGRAM, orval: ORVAL_PROGRAM })
    const documented = DOCUMENTED?.text.replace('http://127.0.0.1:8787', server.root) ?? ''
    // The client of openapi-ts does not compile with it; an optional property of JSON is absent, never undefined.
    const loose = { exactOptionalPropertyTypes: false }
    await compile({ hey: HEY_API_PROGRAM, types: TYPES_PROGRAM, documented }, loose)
    for (const name of ['fetch', 'orval', 'hey']) {
      expect([name, JSON.parse(await outputOf(name))]).toEqual([
        name,
        {
          rates: { USD: expect.any(Number), EUR: expect.any(Number) },
          points: expect.any(Number),
          result: expect.any(Number),
          code: 'invalid_currency',
          provider: expect.stringContaining('Synthetic'),
        },
      ])
    }
    expect(await outputOf('types')).toBe('')
    expect(await outputOf('documented')).toMatch(/^\d+ Synthetic rates .*\n$/)
  })
})
