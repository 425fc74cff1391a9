import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { requireProgram, run } from '../system/processes.ts'
import { ROOT, findPackage } from '../system/runtimes.ts'
import { COMPILERS, MODULES, openApp } from './package.ts'

/** A typical app; every other name is checked by the compilation of its module. */
const CONSUMER = `import { RatesError, createRatesHandler } from 'ratesmith'
import type { RatesHandlerOptions } from 'ratesmith'
import { createRatesClient } from 'ratesmith/client'
import { toWorker } from 'ratesmith/cloudflare'
import { toNodeHandler } from 'ratesmith/node'
import { createEcbProvider, createOpenExchangeRatesProvider } from 'ratesmith/providers'
import { createMemoryStore } from 'ratesmith/stores/memory'
import { storeContract } from 'ratesmith/testing'
import type { ContractCase } from 'ratesmith/testing'
import { createUndiciFetch } from 'ratesmith/undici'
const options: RatesHandlerOptions = {
  providers: { latest: createOpenExchangeRatesProvider({ key: 'key' }), history: createEcbProvider() },
  store: createMemoryStore(),
}
export const handler = createRatesHandler({ ...options, fetch: await createUndiciFetch() })
const client = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler })
const { rates } = handler
export const { EUR }: { EUR: number } = (await rates.latest({ symbols: ['EUR'] })).rates
export const { USD }: { USD: number } = (await client.latest({ symbols: ['USD'] })).rates
export const hosts = [toNodeHandler(handler), toWorker(() => handler)]
export const cases: ContractCase[] = storeContract(() => new Map())
export const isRatesError = (error: unknown): boolean => error instanceof RatesError
// @ts-expect-error the types are not any
export const wrong: number = createRatesHandler`

const EVERY_MODULE = Object.values(MODULES)
  .map(({ specifier }, index) => `export * as module${index} from '${specifier}'`)
  .join('\n')

const RECORDS = `import document from 'ratesmith/openapi.json' with { type: 'json' }
import manifest from 'ratesmith/package.json' with { type: 'json' }
export const { description }: { description: string } = document.info
export const { version }: { version: string } = manifest`

const RESOLUTIONS = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext', resolveJsonModule: true },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}

it.for(
  COMPILERS.flatMap(([version, program]) => {
    // The oldest and the newest compiler resolve modules in both ways.
    const both = version === '5.4' || version === '7.0'
    const kinds = both ? (['nodenext', 'bundler'] as const) : (['bundler'] as const)
    return kinds.map((resolution) => ({ version, program, resolution }))
  }),
)(
  'the declarations compile with TypeScript $version and resolution $resolution',
  async ({ version, program, resolution }, { skip }) => {
    requireProgram(`TypeScript ${version}`, program, skip)
    const { write, compile } = openApp()
    write('consumer.ts', CONSUMER)
    write('every-module.ts', EVERY_MODULE)
    write('records.ts', RECORDS)
    // With declarations checked, and without types of a runtime.
    const options = { skipLibCheck: false, types: [], ...RESOLUTIONS[resolution] }
    expect(await compile(options, program)).toBe('')
    expect((await run(program, ['--version'])).stdout).toContain(` ${version}.`)
  },
)

/** Globals of the web platform that an app uses. */
const GLOBALS = `import { createRatesHandler } from 'ratesmith'
import type { ProviderContext } from 'ratesmith'
const handler = createRatesHandler({ fetch, providers: {} })
export default { fetch: handler.fetch }
export const response: Promise<Response> = handler.fetch(new Request('http://localhost/api/rates'))
export const request = ({ fetch, signal }: ProviderContext): Promise<Response> => fetch('', { signal })
export const isEnded = (signal: AbortSignal, context: ProviderContext): ProviderContext => ({
  ...context,
  signal,
})`

describe('the declarations', () => {
  /** Compiles every module, and an app with the globals, with `lib` and the packages `types`. */
  async function faults(lib: string, types: readonly string[]): Promise<string> {
    const { write, link, compile } = openApp()
    link(...types)
    write('every-module.ts', EVERY_MODULE)
    write('globals.ts', GLOBALS)
    const libs = ['es2023', ...lib.split(' ').filter(Boolean)]
    return compile({ lib: libs, module: 'nodenext', skipLibCheck: false, types })
  }

  it.for([
    ['dom', []],
    ['webworker', []],
    ['', ['@types/node']],
    ['', ['bun-types']],
    ['', ['@cloudflare/workers-types']],
  ] as const)('compile with lib "%s" and the types of %j', async ([lib, types], { skip }) => {
    for (const name of types) requireProgram(name, findPackage(name) ?? '', skip)
    expect(await faults(lib, types)).toBe('')
  })

  it('need only these names of the web platform', async () => {
    const missing = (await faults('', [])).matchAll(
      /every-module|types\/.* Cannot find name '(\w+)'/g,
    )
    const names = new Set(Array.from(missing, ([, name]) => name))
    const known = ['AbortSignal', 'Request', 'Response', 'fetch']
    expect(names).toEqual(new Set(known))
  })
})

it('all examples in docstrings compile', async () => {
  const { write, link, compile } = openApp()
  const examples = globSync('{src,adapters}/**/*.ts', { cwd: ROOT }).flatMap((file) => {
    const found = readFileSync(join(ROOT, file), 'utf8').matchAll(
      /@example\s+\* ```ts\n([^]*?)```/g,
    )
    return Array.from(found, ([, code = ''], index) => ({
      name: file.replaceAll('/', '.').replace(/ts$/, `${index}.ts`),
      code: code.replaceAll(/^ *\* ?/gm, ''),
    }))
  })
  expect(examples.length).toBeGreaterThan(20)
  link('express', 'ioredis', 'keyv', 'unstorage', '@types/express', '@types/node')
  for (const { name, code } of examples) write(name, `${code}\nexport {}\n`)
  expect(await compile({ module: 'nodenext', types: ['node'], skipLibCheck: true })).toBe('')
})
