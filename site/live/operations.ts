import { ELSEWHERE, registerWorker } from './service-worker.ts'

/** Fills each `<details data-operation>` of the site below `base` when it is opened first. */
export function startOperations(base: string): void {
  document.addEventListener(
    'toggle',
    ({ target }) => {
      if (!(target instanceof HTMLDetailsElement) || target.childElementCount > 1) return
      const { operation } = target.dataset
      if (operation) void fill(target, base, operation)
    },
    { capture: true },
  )
}

async function fill(details: HTMLElement, base: string, operation: string): Promise<void> {
  const facts = document.createElement('p')
  facts.role = 'status'
  facts.textContent = 'Starting …'
  details.append(facts)
  try {
    const [state, { createViewer }] = await Promise.all([
      registerWorker(base),
      import('./operation-viewer.ts'),
    ])
    details.append(await createViewer(base, operation, state.isReady))
    facts.textContent = state.isReady ? '' : `${state.reason} ${ELSEWHERE}`
  } catch {
    facts.textContent = 'The viewer could not be loaded. Reload the page to try again.'
  }
}
