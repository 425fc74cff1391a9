import type { RatesError } from 'ratesmith/client'

import { find } from './dom.ts'
import type { Service } from './request.ts'

/**
 * Creates the card for an API key, which the menu opens, or a refused request; `use` receives each key, and undefined when it is
 * forgotten. The key is only in the variables of the page: the field is emptied when the key is used.
 */
// oxlint-disable-next-line max-lines-per-function -- one state over its closures.
export function createKeyCard(
  { request }: Pick<Service, 'request'>,
  use: (key: string | undefined) => void,
) {
  const menu = find('#more')
  const card = find('#access', HTMLFormElement)
  const input = find('#key', HTMLInputElement)
  const state = find('#key-state')
  const item = find('#enter-key', HTMLButtonElement)
  const forget = find('#forget-key', HTMLButtonElement)

  function open(title: string, reason: string): void {
    card.hidden = false
    find('#access-title').textContent = title
    find('#key-reason').textContent = reason
  }
  function change(key: string | undefined): void {
    input.value = ''
    input.ariaInvalid = 'false'
    forget.hidden = key === undefined
    find('#key-reason').textContent = ''
    document.body.classList.remove('locked')
    state.textContent =
      key === undefined ? 'Requests are sent without a key' : 'Requests are sent with the key'
    use(key)
  }

  // Browsers expect password fields in forms.
  card.addEventListener('submit', (event) => {
    event.preventDefault()
    const key = input.value.trim()
    if (/^[!-~]+$/.test(key)) return change(key)
    input.ariaInvalid = 'true'
    state.textContent = 'A key has letters, digits and punctuation, without spaces'
  })
  forget.addEventListener('click', () => {
    change(undefined)
    // The button is hidden now.
    input.focus()
  })
  item.addEventListener('click', () => {
    menu.hidePopover()
    if (card.hidden) open('API key', '')
    input.focus()
  })
  /** Offers the card where the service has keys. */
  async function offer(): Promise<void> {
    if (!item.hidden) return
    const { components } = await request<{ components: object }>('/v1/openapi.json', 'components')
    item.hidden = !('securitySchemes' in components)
  }
  const onOpening = (): void => void offer().catch(() => {})
  if (menu.matches(':popover-open')) onOpening()
  else menu.addEventListener('beforetoggle', onOpening, { once: true })
  return {
    /** Offers the card after a limit, and shows nothing else where a request is refused without another key. */
    refused(error: RatesError): void {
      item.hidden = false
      if (error.code === 'rate_limited') return
      document.body.classList.add('locked')
      open('This service needs a key', error.summary)
      if (!forget.hidden) state.textContent = 'The service refused the key'
    },
  }
}
