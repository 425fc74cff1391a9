import type { Api } from './api.ts'

/** The API of the page, with the second script of the page. */
export interface PageApi extends Api {
  /** Loads the second script, with what is needed later. */
  loadMore(): Promise<typeof import('./on-demand.ts')>
}
