import type { ApiRequest } from './api.ts'
import { find } from './dom.ts'
import { createCodeMemory } from './memory.ts'
import type { Api } from './page-api.ts'
import type { createRequestTools } from './request-tools.ts'
import type { Exchange } from './request.ts'

/** Cards whose requests are shown, by the ids of their sections. */
const opened = createCodeMemory('ratesmith-code', [])

/** Creates the part of a panel that shows its last request and the response; it is remembered whether that is open. */
export function createCode(section: HTMLElement, api: Api) {
  const details = find('.code', HTMLDetailsElement, section)
  let shown: [ApiRequest, Exchange | undefined] | undefined
  let tools: ReturnType<typeof createRequestTools> | undefined
  const write = (): void => {
    if (details.open && shown) tools?.show(...shown)
  }

  details.open = opened.read().includes(section.id)
  details.addEventListener('toggle', () => {
    const others = opened.read().filter((id) => id !== section.id)
    opened.write(details.open ? [...others, section.id] : others)
    api.needMore()
    write()
  })
  api.onMore((more) => {
    tools = more.createRequestTools(details, api)
    write()
  })
  return {
    show(apiRequest: ApiRequest, response?: Exchange): void {
      // The last response stays until the next.
      shown = [apiRequest, response ?? shown?.[1]]
      write()
    },
  }
}
