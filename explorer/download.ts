import type { ApiRequest } from './api.ts'
import type { Api } from './page-api.ts'
import { find } from './dom.ts'
import { FIRST_DAY } from './range.ts'

/** Creates the link that downloads the history as CSV, with the key of the page. */
export function createDownload({ keyHeader, loadMore }: Api) {
  const link = find('#csv', HTMLAnchorElement)
  const state = find('#chart-state')
  let name = ''

  async function save(): Promise<void> {
    const { saveFile } = await loadMore()
    await saveFile(link.href, name, keyHeader())
  }

  link.addEventListener('click', (event) => {
    event.preventDefault()
    state.textContent = ''
    save().catch(({ message }) => (state.textContent = `The download failed: ${message}`))
  })
  return {
    show(path: string, { from, to = '', period, start, end }: ApiRequest['parameters']): void {
      const days =
        period ?? (start === FIRST_DAY && !end ? 'MAX' : [start, end].filter(Boolean).join('-'))
      name = `${from}-${to.replaceAll(',', '-')}-${days}.csv`
      state.textContent = ''
      link.href = `${path}&format=csv${to.includes(',') ? '&layout=wide' : ''}`
    },
  }
}
