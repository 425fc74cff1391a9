import { Failure, pathOf, request, snippetOf } from './api.ts'
import type { ApiRequest, Form, Operation, Responses } from './api.ts'
import { copyOf, find } from './dom.ts'

/** Callbacks of a panel. */
export interface PanelCallbacks<K extends Operation> {
  show(response: Responses[K]): void
  /** Called for every failure, and with `undefined` after a success. */
  failed?(failure: Failure | undefined): void
}

/** A section of the page that shows the response to one API request at a time. */
export interface Panel {
  /** Sends a request after `delay` ms (default 0), unless it equals the last one. Cancels a pending request. */
  load(apiRequest: ApiRequest, delay?: number): void
  /** Repeats the last request. */
  reload(): void
  /** Repeats the last request if it failed. */
  recover(): void
}

/** Creates the panel in `section`; `base` is the base path of the API. */
export function createPanel<K extends Operation>(
  section: HTMLElement,
  base: string,
  { show, failed }: PanelCallbacks<K>,
): Panel {
  const notice = createNotice(section, reload)
  const requestLine = createRequestLine(section, base)
  let current: ApiRequest | undefined
  let pending = new AbortController()

  async function run(apiRequest: ApiRequest, delay: number, signal: AbortSignal): Promise<void> {
    try {
      await sleep(delay, signal)
      const response = await request<K>(pathOf(base, apiRequest), signal)
      section.dataset['state'] = 'loaded'
      showSource(section, response)
      show(response)
      failed?.(undefined)
      notice.clear()
    } catch (error) {
      if (signal.aborted) return
      fail(error instanceof Failure ? error : new Failure(String(error)), signal)
    }
    section.ariaBusy = 'false'
  }

  function fail(failure: Failure, signal: AbortSignal): void {
    section.dataset['state'] = 'failed'
    failed?.(failure)
    notice.show(failure)
    const { retryAfter } = failure
    if (retryAfter !== undefined) sleep(retryAfter * 1000, signal).then(reload, () => {})
  }

  function start(apiRequest: ApiRequest, delay: number): void {
    pending.abort()
    pending = new AbortController()
    current = apiRequest
    section.ariaBusy = 'true'
    requestLine.show(apiRequest)
    void run(apiRequest, delay, pending.signal)
  }

  function reload(): void {
    if (current) start(current, 0)
  }

  return {
    load(apiRequest, delay = 0) {
      if (!current || pathOf(base, current) !== pathOf(base, apiRequest)) start(apiRequest, delay)
    },
    reload,
    recover() {
      if (section.dataset['state'] === 'failed') reload()
    },
  }
}

function showSource(section: HTMLElement, { source }: Pick<Responses[Operation], 'source'>): void {
  const link = find('.source a', HTMLAnchorElement, section)
  link.textContent = source.name
  // A `javascript:` URL from the API must not become a link; otherwise only the content security policy would block it.
  if (/^https?:\/\//i.test(source.url)) link.href = source.url
  else link.removeAttribute('href')
}

/** The error message of a panel. */
interface Notice {
  show(failure: Failure): void
  clear(): void
}

/** Creates the notice of `section`; its button calls `retry`. */
function createNotice(section: HTMLElement, retry: () => void): Notice {
  find('.data', HTMLElement, section).before(copyOf('notice'))
  const box = find('.notice', HTMLElement, section)
  const message = find('[role=alert]', HTMLElement, box)
  message.id = `${section.id}-notice`
  const waiting = find('.waiting', HTMLElement, box)
  find('button', HTMLButtonElement, box).addEventListener('click', retry)
  return {
    show({ message: text, retryAfter, isFinal }) {
      box.hidden = false
      // Setting the same text again would make screen readers repeat it.
      if (message.textContent !== text) message.textContent = text
      find('.retry', HTMLElement, box).hidden = isFinal
      waiting.textContent = retryAfter === undefined ? '' : `Retrying in ${retryAfter} s`
    },
    clear() {
      box.hidden = true
      message.textContent = ''
    },
  }
}

/** Creates the line at the foot of a panel that shows its last request and copies it as code. */
function createRequestLine(
  section: HTMLElement,
  base: string,
): { show(apiRequest: ApiRequest): void } {
  section.append(copyOf('foot'))
  const line = find('.asked', HTMLElement, section)
  const snippet = find('.snippet', HTMLElement, section)
  const outcome = find('.copied', HTMLElement, section)
  let current: ApiRequest | undefined
  let form: Form | undefined

  function show(apiRequest: ApiRequest): void {
    current = apiRequest
    line.textContent = `GET ${pathOf(base, apiRequest)}`
    outcome.textContent = ''
    if (form) snippet.textContent = snippetOf(form, location.origin + base, apiRequest)
  }

  async function copy(chosen: Form): Promise<void> {
    if (!current) return
    form = chosen
    show(current)
    snippet.hidden = false
    outcome.textContent = (await write(snippet)) ? 'Copied' : 'Selected; copy it manually'
  }

  for (const button of section.querySelectorAll<HTMLButtonElement>('[data-form]')) {
    button.addEventListener('click', () => void copy(toForm(button.dataset['form'])))
  }
  return { show }
}

function toForm(name: string | undefined): Form {
  return name === 'fetch' || name === 'client' ? name : 'curl'
}

/** Selects the text of `element` and copies it to the clipboard; returns false if the browser refuses. */
async function write(element: HTMLElement): Promise<boolean> {
  getSelection()?.selectAllChildren(element)
  try {
    // Browsers have a clipboard only over HTTPS and on localhost.
    await navigator.clipboard.writeText(element.textContent)
    return true
  } catch {
    return false
  }
}

/** Resolves after `duration` ms; rejects if `signal` aborts. */
function sleep(duration: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, duration)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
