import { pathOf } from './api.ts'
import type { ApiRequest } from './api.ts'
import { find } from './dom.ts'
import type { Api } from './page-api.ts'
import { FIRST_DAY } from './times.ts'

/** Creates the link that downloads a history as CSV, with the key of the page; the function it returns sets which. */
export function createDownload({ base, keyHeader, onMore }: Api) {
  const link = find('#csv', HTMLAnchorElement)
  const state = find('#chart-state')
  let name = ''

  onMore(({ saveFile }) => {
    link.addEventListener('click', (event) => {
      event.preventDefault()
      state.textContent = ''
      saveFile(link.href, name, keyHeader()).catch(
        ({ message }) => (state.textContent = `The download failed: ${message}`),
      )
    })
  })
  return (parameters: ApiRequest['parameters']): void => {
    const { from, to = '', period, start, end } = parameters
    const days =
      period ?? (start === FIRST_DAY && !end ? 'MAX' : [start, end].filter(Boolean).join('-'))
    name = `${from}-${to.replaceAll(',', '-')}-${days}.csv`
    const path = pathOf(base, { operation: 'history', parameters })
    link.href = `${path}&format=csv${to.includes(',') ? '&layout=wide' : ''}`
  }
}
