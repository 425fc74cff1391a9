import { find } from './dom.ts'

/** Wires the menu of the page; `settle` writes the view into the address, which one of its items copies. */
export function createMenu(settle: () => void): void {
  const root = document.documentElement
  const theme = find('#theme', HTMLSelectElement)
  const state = find('#link-state')
  const choose = (): void => {
    root.dataset['theme'] = theme.value
    try {
      localStorage.setItem('ratesmith-theme', theme.value)
    } catch {
      // The browser refuses storage: the choice lasts until the page is closed.
    }
  }
  // It may have been chosen before this script was loaded.
  if (theme.value) choose()
  else theme.value = root.dataset['theme'] ?? ''
  theme.addEventListener('change', choose)
  async function copyLink(): Promise<void> {
    settle()
    try {
      await navigator.clipboard.writeText(location.href)
      state.textContent = 'Link copied'
    } catch {
      state.textContent = 'Copy the link from the address bar'
    }
  }
  find('#copy-link').addEventListener('click', () => void copyLink())
  find('#more').addEventListener('toggle', () => (state.textContent = ''))
}
