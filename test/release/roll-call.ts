import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { ENTRY_POINTS } from './entry-points.ts'
import { EXPORTED_NAMES } from './exported-names.ts'

/** What a program of `rollCall` tells. */
export interface RollCall {
  /** What each module exports, by its subpath. */
  names: Record<string, string[]>
  /** What a handler over a synthetic market answers. */
  answer: unknown
}

/** What the handler of a program is asked. */
const QUESTION = 'http://localhost/api/v1/convert?from=USD&to=EUR&amount=100'

/** 2026-11-20T18:00:00Z, in ms since the Unix epoch. */
const NOW = Date.UTC(2026, 10, 20, 18)

/**
 * The text of a module with `tell()`, which resolves with a `RollCall` of the modules at `subpaths`; the package itself and
 * `./testing` must be among them.
 */
export function rollCall(subpaths: readonly string[]): string {
  const modules = subpaths.map((subpath, index) => ({
    statement: `import * as module${index} from '${ENTRY_POINTS[subpath]?.specifier}'`,
    entry: `'${subpath}': Object.keys(module${index}).sort()`,
  }))
  return `${modules.map(({ statement }) => statement).join('\n')}
import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'
export async function tell() {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => ${NOW} })
  const response = await handler(new Request('${QUESTION}'))
  const names = { ${modules.map(({ entry }) => entry).join(', ')} }
  return { names, answer: await response.json() }
}
`
}

/** What such a program is to tell. */
export async function expectedRollCall(subpaths: readonly string[]): Promise<RollCall> {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => NOW })
  const response = await handler(new Request(QUESTION))
  const names = Object.entries(EXPORTED_NAMES).filter(([subpath]) => subpaths.includes(subpath))
  return { names: Object.fromEntries(names), answer: await response.json() }
}
