import { assertKnownOptions } from '../../known-options.ts'
import { expectSame } from '../expect-same.ts'

/** A handler where clients find it, and how it is asked. */
export interface Mount {
  /** The base path with its origin, for example `http://127.0.0.1:3000/api`. */
  url: string
  /** Answers a request (default the platform's `fetch`); that of an app, or a handler itself, needs no server. */
  fetch?: ((request: Request) => Response | Promise<Response>) | undefined
  /** The handler's option `cors` (default `'v1'`). */
  cors?: 'v1' | 'all' | 'off' | undefined
  /** Two codes that both latest rates and history cover (default `['EUR', 'USD']`). */
  pair?: readonly [string, string] | undefined
}

/** An answer, read to its end. */
export interface Heard {
  status: number
  /** The value of a header, or an empty text. */
  header(name: string): string
  text: string
  /** The fields of the body; none where it is no JSON object. */
  record: Readonly<Record<string, unknown>>
}

/** One mount on trial; whatever it should not do throws an error that says what was expected. */
export interface Trial {
  /** The base path with its origin. */
  url: string
  pair: readonly [string, string]
  /** Whether every origin may read what is at a path below the base path. */
  isOpen(path: string): boolean
  /** Asks for a path below the base path. */
  ask(path: string, init?: RequestInit): Promise<Heard>
  /** Asks, and expects 200. */
  askGood(path: string): Promise<Heard>
}

/** A thing that a mount must do. */
export type Rule = (trial: Trial) => Promise<void>

/** Puts a mount on trial. */
export function openTrial(mount: Mount): Trial {
  const { url, cors = 'v1', pair = ['EUR', 'USD'], fetch = overNetwork } = mount
  assertKnownOptions(mount, { url, cors, pair, fetch })
  const trial: Trial = {
    url,
    pair,
    isOpen: (path) => cors === 'all' || (cors === 'v1' && path.startsWith('/v1')),
    async ask(path, init) {
      const response = await fetch(new Request(url + path, { redirect: 'manual', ...init }))
      const text = await response.text()
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? '',
        text,
        record: toRecord(text),
      }
    },
    async askGood(path) {
      const heard = await trial.ask(path)
      expectSame(`the status of ${path}`, heard.status, 200)
      return heard
    },
  }
  return trial
}

function overNetwork(request: Request): Promise<Response> {
  return globalThis.fetch(request)
}

function toRecord(text: string): Heard['record'] {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
