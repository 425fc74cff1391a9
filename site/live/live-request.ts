import { ELSEWHERE, registerWorker, reloadLiveAddress } from './service-worker.ts'

/** The requests to choose from, with what each returns. */
const REQUESTS: readonly (readonly [path: string, label: string])[] = [
  ['api/v1/convert?from=USD&to=EUR&amount=100', 'Convert 100 USD to EUR'],
  ['api/v1/convert?from=EUR&to=JPY,GBP,CHF&amount=49.90', 'A price in three currencies'],
  ['api/v1/latest?base=EUR&symbols=USD,GBP,JPY', 'Latest rates of the euro'],
  ['api/v1/latest?base=USD&symbols=EUR&date=2020-03-16', 'The rate of a day in 2020'],
  ['api/v1/history?from=USD&to=JPY&period=1W', 'A week of USD in JPY'],
  ['api/v1/convert?from=USD&to=XXX', 'An error'],
  ['api/v1/status', 'State and age of the data'],
]

/** Defines `<live-request>` and registers the service worker, on every page of the site below `base`. */
export function startLive(base: string): void {
  void registerWorker(base)
  void reloadLiveAddress(base)
  if (customElements.get('live-request')) return
  customElements.define(
    'live-request',
    class extends HTMLElement {
      connectedCallback(): void {
        fill(this, base)
      }
    },
  )
}

/** Returns a new element with properties and children. */
function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

function fill(host: HTMLElement, base: string): void {
  const choice = make(
    'select',
    { id: 'live-choice' },
    ...REQUESTS.map(([value, label]) => make('option', { value }, label)),
  )
  const facts = make('p', { className: 'live-facts', role: 'status' }, 'Starting …')
  const shown = make('code')
  const address = make('a', { target: '_blank', rel: 'noopener', className: 'live-address' })
  const send = make('button', { type: 'submit' }, 'Send')
  const form = make(
    'form',
    {},
    make('label', { htmlFor: 'live-choice' }, 'Request'),
    choice,
    send,
    make('p', { className: 'live-line' }, make('span', {}, 'GET '), address),
  )
  const body = make('pre', { tabIndex: 0, ariaLabel: 'Response', role: 'region' }, shown)
  host.replaceChildren(form, facts, body)
  const parts = { base, choice, facts, shown, address }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void run(parts)
  })
  choice.addEventListener('change', () => void run(parts))
  void run(parts)
}

interface Parts {
  base: string
  choice: HTMLSelectElement
  facts: HTMLElement
  shown: HTMLElement
  address: HTMLAnchorElement
}

/** Sends the chosen request, and shows status, time and body. */
async function run({ base, choice, facts, shown, address }: Parts): Promise<void> {
  const path = choice.value
  address.href = base + path
  address.textContent = `/${path}`
  const state = await registerWorker(base)
  if (!state.isReady) {
    facts.textContent = `${state.reason} ${ELSEWHERE}`
    return
  }
  const startedAt = performance.now()
  try {
    const response = await fetch(base + path)
    const body: unknown = await response.json()
    if (choice.value !== path) return
    const elapsed = Math.max(1, Math.round(performance.now() - startedAt))
    facts.textContent = `${response.status} ${response.ok ? 'OK' : 'error'} in ${elapsed} ms`
    shown.textContent = JSON.stringify(body, undefined, 2)
  } catch {
    facts.textContent = 'The service worker did not answer. Reload the page to start it again.'
  }
}
