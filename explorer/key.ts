import { find } from './dom.ts'

/**
 * Creates the field for an API key. The key is only in the variables of the page: the field is emptied when the key is used.
 * `use` receives each key, and undefined when it is forgotten.
 */
export function createKeyField(use: (key: string | undefined) => void) {
  const details = find('#access', HTMLDetailsElement)
  const input = find('#key', HTMLInputElement)
  const state = find('#key-state')
  const forget = find('#forget-key', HTMLButtonElement)

  function change(key: string | undefined): void {
    input.value = ''
    input.ariaInvalid = 'false'
    forget.hidden = key === undefined
    state.textContent =
      key === undefined ? 'Requests are sent without a key' : 'Requests are sent with the key'
    use(key)
  }

  function submit(): void {
    const key = input.value.trim()
    if (/^[!-~]+$/.test(key)) return change(key)
    input.ariaInvalid = 'true'
    state.textContent = 'A key has letters, digits and punctuation, without spaces'
  }

  // Browsers expect password fields in forms.
  find('form', HTMLFormElement, details).addEventListener('submit', (event) => {
    event.preventDefault()
    submit()
  })
  forget.addEventListener('click', () => {
    change(undefined)
    // The button is hidden now.
    input.focus()
  })
  return {
    open(): void {
      details.open = true
    },
  }
}
