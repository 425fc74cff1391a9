import { find, fragmentOf, make } from './dom.ts'
import type { View } from './dom.ts'
import type { PageApi } from './page-api.ts'

/** Creates the two tabs: the rates, and the description of the API, whose script is loaded when it is first shown. */
export function createTabs(api: PageApi): { show(view: View): void } {
  const main = find('main', HTMLElement)
  const box = find('#api', HTMLElement)
  const links = [...document.querySelectorAll<HTMLAnchorElement>('[data-tab]')]
  let loading: Promise<void> | undefined

  async function load(): Promise<void> {
    try {
      const { createApiTab } = await api.loadMore()
      await createApiTab(box, api)
    } catch (error) {
      loading = undefined
      const again = make('button', 'Try again')
      again.addEventListener('click', start)
      box.replaceChildren(
        make('p', `The description of the API cannot be loaded: ${String(error)} `),
        again,
      )
    }
  }
  function start(): void {
    box.replaceChildren(make('p', 'Loading the description of the API'))
    loading ??= load()
  }

  return {
    show(view) {
      for (const link of links) {
        const tab = link.dataset['tab'] ?? ''
        link.href = fragmentOf({ ...view, tab })
        link.ariaCurrent = tab === view.tab ? 'page' : null
      }
      const isApi = view.tab === 'api'
      main.classList.toggle('other', isApi)
      box.hidden = !isApi
      if (isApi && !loading) start()
    },
  }
}
