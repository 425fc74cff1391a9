/** Whether a service worker answers requests of this page; if not, a sentence for the reader. */
export type WorkerState = { isReady: true } | { isReady: false; reason: string }

/** What a reader does where no service worker answers. */
export const ELSEWHERE = 'npx ratesmith serve --demo answers them on your machine.'

let registered: Promise<WorkerState> | undefined

/** Registers the worker of the site once, and resolves when it answers requests of this page; never rejects. */
export function registerWorker(base: string): Promise<WorkerState> {
  registered ??= register(base)
  return registered
}

async function register(base: string): Promise<WorkerState> {
  if (!('serviceWorker' in navigator)) {
    const reason = isSecureContext
      ? 'This browser has service workers turned off, as some do in private windows, so the examples cannot be answered here.'
      : 'Service workers need HTTPS or this machine as the host, so the examples cannot be answered here.'
    return { isReady: false, reason }
  }
  const { serviceWorker } = navigator
  try {
    const isControlled = new Promise<void>((resolve) => {
      if (serviceWorker.controller) resolve()
      else serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true })
    })
    await serviceWorker.register(`${base}sw.js`, { scope: base })
    await isControlled
    return { isReady: true }
  } catch {
    return { isReady: false, reason: 'The service worker with the examples could not be loaded.' }
  }
}

/** Reloads an address below `api/` that a server answered with this page, because the worker was not there yet. */
export async function reloadLiveAddress(base: string): Promise<void> {
  if (!location.pathname.startsWith(`${base}api/`)) return
  const wasControlled = Boolean(navigator.serviceWorker?.controller)
  const { isReady } = await registerWorker(base)
  if (isReady && !wasControlled) location.reload()
}
