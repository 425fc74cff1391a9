import * as cases from './provider-cases.ts'
import type { Client } from './trial-providers.ts'

/** A client that gives a good answer where `isTaken` says so of a text. */
function taking(isTaken: (text: string) => boolean): Client {
  return (fetch, good) => async (url, init) => {
    const response = await fetch(url, init)
    if (!response.ok) return response
    const text = await response.text()
    return new Response(isTaken(text) ? good : text)
  }
}

/** A client that does `instead` where there is no good answer. */
function onFailure(instead: (error: unknown, good: string) => Response): Client {
  return (fetch, good) => async (url, init) => {
    try {
      return new Response(await (await fetch(url, init)).text())
    } catch (error) {
      return instead(error, good)
    }
  }
}

function refusingWith(retryAfterMs: unknown): Client {
  return (fetch) => async (url, init) => {
    const response = await fetch(url, init)
    if (response.ok) return response
    throw Object.assign(new Error('refused'), { retryAfterMs })
  }
}

/** A client that asks again, after a short pause, until an answer is good enough. */
function again(isEnough: (response: Response) => boolean): Client {
  return (fetch) => async (url, init) => {
    for (;;) {
      const response = await fetch(url, init).catch(() => undefined)
      if (response && isEnough(response)) return response
      await new Promise((resolve) => {
        setTimeout(resolve, 100)
      })
    }
  }
}

function isNoJson(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

/** Ways of reading an upstream that no method of a provider must have. */
export const BAD_CLIENTS: [what: string, client: Client, found: string[]][] = [
  ['has its rates from elsewhere', (_, good) => async () => new Response(good), [cases.FETCH]],
  [
    'knows no signal',
    (fetch) => (url) => fetch(url),
    [cases.ABORTED, cases.BEFORE, cases.AMID, cases.ENDLESS],
  ],
  [
    'lets go of the signal once it has an answer',
    (fetch) => async (url, init) => {
      const own = new AbortController()
      const abort = (): void => own.abort()
      init?.signal?.addEventListener('abort', abort)
      if (init?.signal?.aborted) abort()
      const response = await fetch(url, { signal: own.signal })
      init?.signal?.removeEventListener('abort', abort)
      return response
    },
    [cases.AMID, cases.ENDLESS],
  ],
  [
    'has enough of a body that is too long',
    (fetch, good) => async (url, init) => {
      const { body, status } = await fetch(url, init)
      let text = ''
      for await (const part of body ?? []) {
        text += new TextDecoder().decode(part)
        if (text.length > 1_000_000) return new Response(good)
      }
      return new Response(text, { status })
    },
    [cases.ENDLESS],
  ],
  [
    'has rates of its own where upstream fails',
    onFailure((_, good) => new Response(good)),
    [cases.UNREACHABLE, cases.BROKEN_OFF, cases.AMID],
  ],
  [
    'looks at no status',
    (fetch) => async (url, init) => new Response((await fetch(url, init)).body),
    [cases.STATUS_500, cases.STATUS_404, cases.REDIRECTS],
  ],
  ['reads rates off a page', taking((text) => text.startsWith('<!doctype')), [cases.HTML]],
  ['takes nothing for no change', taking((text) => text === ''), [cases.NOTHING]],
  ['mends JSON', taking(isNoJson), [cases.EARLY_END]],
  ['fills in values', taking((text) => text.includes(':null')), [cases.NO_VALUES]],
  ['takes no rates for no change', taking((text) => text === '{}'), [cases.OTHER_FORM]],
  ['follows redirects for ever', again(({ status }) => status !== 302), [cases.REDIRECTS]],
  ['tries again for ever', again(() => true), [cases.UNREACHABLE, cases.ABORTED]],
  [
    'remembers its last answer',
    (fetch) => {
      let last: string | undefined
      return async (url, init) => {
        const response = await fetch(url, init).catch((error: unknown) => {
          if (last === undefined) throw error
          return new Response(last)
        })
        last = await response.clone().text()
        return response
      }
    },
    [cases.NO_LONGER],
  ],
  [
    'rejects with a text',
    onFailure(() => {
      throw 'down'
    }),
    [cases.UNREACHABLE],
  ],
  ['counts a pause in seconds', refusingWith(120), [cases.PAUSE]],
  ['has a pause in a text', refusingWith('120000'), [cases.PAUSE]],
  ['has a pause that is no number', refusingWith(NaN), [cases.PAUSE]],
]
