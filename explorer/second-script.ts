import type { Api } from './page-api.ts'

const FIRST_INTERACTIONS = ['pointermove', 'pointerdown', 'keydown', 'focusin']

/** Loads the second script of the page with the first interaction, and again with the next one where that failed. */
export function createMore(url: string): Pick<Api, 'onMore' | 'needMore'> {
  const waiting: ((more: typeof import('./more.ts')) => void)[] = []
  let more: typeof import('./more.ts') | undefined
  let isLoading = false
  let failures = 0
  const interact = (): void => void load()
  const missed = new Set<HTMLElement>()

  async function load(): Promise<void> {
    if (isLoading) return
    isLoading = true
    try {
      // Some browsers never load an address again that failed.
      more = await import(failures === 0 ? url : `${url}?${failures}`)
    } catch {
      // What the page shows does not need it.
      isLoading = false
      failures += 1
      removeEventListener('pointermove', interact)
    }
    if (!more) return
    for (const use of waiting.splice(0)) use(more)
    for (const button of missed) button.click()
  }
  // What only the second script can do waits for it.
  addEventListener('click', (event) => {
    const target = event.target instanceof Element && event.target.closest('[data-more]')
    if (more || !(target instanceof HTMLElement)) return
    event.preventDefault()
    missed.add(target)
  })
  for (const event of FIRST_INTERACTIONS) addEventListener(event, interact)
  return {
    onMore: (use) => void (more ? use(more) : waiting.push(use)),
    needMore: () => void load(),
  }
}
