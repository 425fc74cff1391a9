import { registerWorker } from './service-worker.ts'

const base = new URL('..', location.href).pathname
const state = await registerWorker(base)
if (state.isReady) location.replace(`${base}api/${location.hash}`)
else {
  const shown = document.querySelector('#state')
  if (shown) {
    shown.textContent = `${state.reason} npx ratesmith serve --demo serves the explorer on your machine.`
  }
}
