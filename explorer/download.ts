import type { ApiRequest } from './api.ts'
import { find } from './dom.ts'
import type { PageApi } from './page-api.ts'

/** The link that downloads the history as CSV. */
export interface Download {
  /** Sets the path and the parameters of the history. */
  show(path: string, parameters: ApiRequest['parameters']): void
}

/** Creates the download, which sends the key of the page. */
export function createDownload({
  keyHeader,
  loadMore,
}: Pick<PageApi, 'keyHeader' | 'loadMore'>): Download {
  const link = find('#csv', HTMLAnchorElement)
  const state = find('#chart-state', HTMLElement)
  let history: ApiRequest['parameters'] = {}

  async function save(): Promise<void> {
    const { saveHistory } = await loadMore()
    await saveHistory(link.href, history, keyHeader())
  }

  link.addEventListener('click', (event) => {
    event.preventDefault()
    state.textContent = ''
    save().catch(({ message }) => (state.textContent = `The download failed: ${message}`))
  })
  return {
    show(path, parameters) {
      history = parameters
      state.textContent = ''
      link.href = `${path}&format=csv${parameters['to']?.includes(',') ? '&layout=wide' : ''}`
    },
  }
}
