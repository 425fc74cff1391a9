import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import type { createHandlerOn } from '../../src/handler.ts'
import type { createExchangeRateApiProvider } from '../../src/providers/exchange-rate-api.ts'
import type { createFrankfurterProvider } from '../../src/providers/frankfurter.ts'

/** The library's own `src` folder. */
export const OWN_SOURCE: string = fileURLToPath(new URL('../../src', import.meta.url))

/** What a simulation takes from the code that it tries. */
export interface Source {
  createHandlerOn: typeof createHandlerOn
  createExchangeRateApiProvider: typeof createExchangeRateApiProvider
  createFrankfurterProvider: typeof createFrankfurterProvider
}

/** The code in `folder`, which is laid out as `src` is. */
export async function loadSource(folder: string): Promise<Source> {
  const load = (path: string): Promise<Source> => import(pathToFileURL(join(folder, path)).href)
  const [handler, latest, history] = await Promise.all([
    load('handler.ts'),
    load('providers/exchange-rate-api.ts'),
    load('providers/frankfurter.ts'),
  ])
  return {
    createHandlerOn: handler.createHandlerOn,
    createExchangeRateApiProvider: latest.createExchangeRateApiProvider,
    createFrankfurterProvider: history.createFrankfurterProvider,
  }
}
