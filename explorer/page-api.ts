import type { RatesError } from 'ratesmith/client'

import type { Service } from './request.ts'

type More = typeof import('./more.ts')

export interface Api extends Service {
  /** Called with each error of a request. */
  failed(error: RatesError): void
  /** Calls `use` with the second script of the page, which is loaded with the first interaction. */
  onMore(use: (more: More) => void): void
  /** Loads the second script now. */
  needMore(): void
}
