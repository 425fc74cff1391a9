import type { ApiRequest } from './api.ts'
import { find } from './dom.ts'
import type { PageApi } from './page-api.ts'
import { FIRST_DAY } from './range.ts'

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

  async function save(): Promise<void> {
    const { saveFile } = await loadMore()
    await saveFile(link, keyHeader())
  }

  link.addEventListener('click', (event) => {
    event.preventDefault()
    state.textContent = ''
    save().catch(({ message }) => (state.textContent = `The download failed: ${message}`))
  })
  return {
    show(path, { from = '', to = '', period, start, end }) {
      state.textContent = ''
      link.href = `${path}&format=csv${to.includes(',') ? '&layout=wide' : ''}`
      const days =
        period ?? (start === FIRST_DAY && !end ? 'MAX' : [start, end].filter(Boolean).join('-'))
      link.download = `${[from, to.replaceAll(',', '-'), days].join('-')}.csv`
    },
  }
}
