import { assertKnownOptions } from '../../known-options.ts'
import { expectSame } from '../expect-same.ts'

/** A handler where clients find it, and how it is asked. */
export interface MountContractOptions {
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
export interface MountResponse {
  status: number
  /** The value of a header, or an empty text. */
  header(name: string): string
  text: string
  /** The fields of the body; none where it is no JSON object. */
  record: Readonly<Record<string, unknown>>
}

/** One mount on trial; whatever it should not do throws an error that says what was expected. */
export interface MountTrial {
  /** The base path with its origin. */
  url: string
  pair: readonly [string, string]
  /** Whether every origin may read what is at a path below the base path. */
  isOpen(path: string): boolean
  /** Asks for a path below the base path. */
  request(path: string, init?: RequestInit): Promise<MountResponse>
  /** Asks, and expects 200. */
  requestOk(path: string): Promise<MountResponse>
}

/** A thing that a mount must do. */
export type Rule = (trial: MountTrial) => Promise<void>

/** Puts a mount on trial. */
export function openTrial(mount: MountContractOptions): MountTrial {
  const { url, cors = 'v1', pair = ['EUR', 'USD'], fetch = overNetwork } = mount
  assertKnownOptions(mount, { url, cors, pair, fetch })
  const trial: MountTrial = {
    url,
    pair,
    isOpen: (path) => cors === 'all' || (cors === 'v1' && path.startsWith('/v1')),
    async request(path, init) {
      const response = await fetch(new Request(url + path, { redirect: 'manual', ...init }))
      const text = await response.text()
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? '',
        text,
        record: toRecord(text),
      }
    },
    async requestOk(path) {
      const heard = await trial.request(path)
      expectSame(`the status of ${path}`, heard.status, 200)
      return heard
    },
  }
  return trial
}

function overNetwork(request: Request): Promise<Response> {
  return globalThis.fetch(request)
}

function toRecord(text: string): MountResponse['record'] {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
