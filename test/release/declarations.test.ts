import { describe, expect, it } from 'vitest'

import { run } from '../system/processes.ts'
import { requireProgram } from '../system/require-program.ts'
import { COMPILERS, MODULES, STRICT, openApp } from './package.ts'

/** A typical app; every other name is checked by the compilation of its module. */
const CONSUMER = `import { RatesError, createRatesHandler } from 'ratesmith'
import type { RatesHandlerOptions } from 'ratesmith'
import { serve as serveOnBun } from 'ratesmith/bun'
import { createRatesClient } from 'ratesmith/client'
import { toWorker } from 'ratesmith/cloudflare'
import { serve as serveOnDeno } from 'ratesmith/deno'
import { toExpressHandler } from 'ratesmith/express'
import { createUndiciFetch, serve, toNodeHandler } from 'ratesmith/node'
import { createEcbProvider } from 'ratesmith/providers/ecb'
import { createOpenExchangeRatesProvider } from 'ratesmith/providers/open-exchange-rates'
import { createMemoryStore } from 'ratesmith/stores/memory'
import { mountContract, storeContract } from 'ratesmith/testing'
import type { ContractCase } from 'ratesmith/testing'
const options: RatesHandlerOptions = {
  providers: { latest: createOpenExchangeRatesProvider({ key: 'key' }), history: createEcbProvider() },
  store: createMemoryStore(),
}
export const handler = createRatesHandler({ ...options, fetch: await createUndiciFetch() })
const client = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler })
const { rates } = handler
export const { EUR }: { EUR: number } = (await rates.latest({ symbols: ['EUR'] })).rates
export const { USD }: { USD: number } = (await client.latest({ symbols: ['USD'] })).rates
export const hosts = [toNodeHandler(handler), toExpressHandler(handler), toWorker(() => handler)]
export const servers = [serve, serveOnBun, serveOnDeno].map((each) => each(handler))
export const cases: ContractCase[] = [
  ...storeContract(() => new Map()),
  ...mountContract(() => ({ url: 'http://localhost/api' })),
]
export const isRefused = (error: unknown): boolean => error instanceof RatesError
// @ts-expect-error the types are not any
export const wrong: number = createRatesHandler`

const EVERY_MODULE = Object.values(MODULES)
  .map(({ specifier }, index) => `export * as module${index} from '${specifier}'`)
  .join('\n')

const RECORDS = `import document from 'ratesmith/openapi.json' with { type: 'json' }
import manifest from 'ratesmith/package.json' with { type: 'json' }
export const { description }: { description: string } = document.info
export const { version }: { version: string } = manifest`

const RESOLUTIONS = [
  { module: 'nodenext', moduleResolution: 'nodenext', resolveJsonModule: true },
  { module: 'esnext', moduleResolution: 'bundler' },
]

describe.each(COMPILERS)('the declarations with TypeScript %s', (version, program) => {
  it.for(RESOLUTIONS)('compile: %j', async (resolution, { skip }) => {
    requireProgram(`TypeScript ${version}`, program, skip)
    const { folder, write } = openApp()
    write('consumer.ts', CONSUMER)
    write('every-module.ts', EVERY_MODULE)
    write('records.ts', RECORDS)
    // With declarations checked, and without types of a runtime.
    const compilerOptions = { ...STRICT, skipLibCheck: false, types: [], ...resolution }
    write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const { stdout, stderr } = await run(program, ['-p', folder])
    expect(stdout + stderr).toBe('')
    expect((await run(program, ['--version'])).stdout).toContain(` ${version}.`)
  })
})
