import { find } from './dom.ts'

export function createThemeSwitch(): void {
  const root = document.documentElement
  const select = find('#theme', HTMLSelectElement)
  select.value = root.dataset['theme'] ?? ''
  select.addEventListener('change', () => {
    root.dataset['theme'] = select.value
    try {
      localStorage.setItem('ratesmith-theme', select.value)
    } catch {
      // The browser refuses storage: the choice lasts until the page is closed.
    }
  })
}

/** Creates the button that copies the address; `settle` writes the view into it first. */
export function createCopyLink(settle: () => void): void {
  const state = find('#link-state')
  async function copy(): Promise<void> {
    settle()
    try {
      await navigator.clipboard.writeText(location.href)
      state.textContent = 'Link copied'
    } catch {
      state.textContent = 'Copy the link from the address bar'
    }
  }
  find('#copy-link', HTMLButtonElement).addEventListener('click', () => void copy())
}

export function showBasePath(base: string): void {
  find('#root').textContent = location.origin + base
  for (const link of document.querySelectorAll<HTMLAnchorElement>('[data-path]')) {
    link.href = base + link.dataset['path']
  }
}
