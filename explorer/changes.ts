import type { LatestRates } from 'ratesmith/client'

import { MAJOR_CURRENCIES } from '../src/currency-search.ts'
import { UNKNOWN_COVERAGE, historiesOf, pathOf } from './api.ts'
import type { Responses } from './api.ts'
import type { Api } from './page-api.ts'
import type { Choices } from './dom.ts'

/** The API returns at most this many histories at once. */
const MAX_CHANGES = 20

/** Changes since the previous day, in percent, by code. */
export type Changes = ReadonlyMap<string, number>

/** `show` receives the changes against one base. After a failure it is not called. */
export function createChangeLoader(
  { request }: Pick<Api, 'request'>,
  show: (changes: Changes) => void,
) {
  let loadedFor = ''
  let changes: Changes = new Map()
  let asked = new Set<string>()

  return {
    /** Loads the changes of the favourite and the major currencies with one request, unless they are known. */
    async load(
      { base, updatedAt, rates }: LatestRates,
      favourites: readonly string[],
      { coverage }: Choices,
    ): Promise<void> {
      // Without a list of currencies, the API would refuse some.
      if (!coverage || coverage === UNKNOWN_COVERAGE) return
      const key = `${base} ${updatedAt}`
      if (key !== loadedFor) {
        loadedFor = key
        asked = new Set()
        if (changes.size > 0) show((changes = new Map()))
      }
      const codes = [...new Set([...favourites, ...MAJOR_CURRENCIES])].filter(
        (code) => code in rates && code !== base && !coverage.whyNone(base, code),
      )
      const wanted = codes.slice(0, MAX_CHANGES).filter((code) => !asked.has(code))
      if (wanted.length === 0) return
      asked = new Set([...asked, ...wanted])
      try {
        // A comma makes one code a list.
        const parameters = { from: base, to: `${wanted.join()},`, period: '1W' }
        const path = pathOf('', { operation: 'history', parameters })
        const histories = historiesOf(await request<Responses['history']>(path, 'from'))
        if (key !== loadedFor) return
        const loaded = histories.flatMap(({ to: code, points }): [string, number][] => {
          const [before, last] = points.slice(-2)
          return before && last ? [[code, (last.r / before.r - 1) * 100]] : []
        })
        show((changes = new Map([...changes, ...loaded])))
      } catch {
        // The table is complete without changes; the next one comes with a new request.
        if (key === loadedFor) loadedFor = ''
      }
    },
  }
}
