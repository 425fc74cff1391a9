import { expectSame } from '../../src/testing/contract.ts'

/** Options of `mountContract`: the mounted handler. */
export interface MountContractOptions {
  /** Origin and base path, for example `http://127.0.0.1:3000/api`. */
  url: string
  /** Sends a request (default: the platform's `fetch`). Pass the handler, or the `fetch` of an app, to test without a server. */
  fetch?: ((request: Request) => Response | Promise<Response>) | undefined
}

/** A response with its whole body. */
export interface MountResponse {
  status: number
  /** Returns the value of a header, or an empty string. */
  header(name: string): string
  text: string
  /** Fields of the body; none unless it is a JSON object. */
  record: Readonly<Record<string, unknown>>
}

/** Requests to one mounted handler; paths are relative to the base path. */
export interface MountTrial {
  /** Origin and base path. */
  url: string
  /** Whether CORS allows every origin to read a path, by default. */
  isOpen(path: string): boolean
  request(path: string, init?: RequestInit): Promise<MountResponse>
  /** Sends a request and expects status 200. */
  requestOk(path: string): Promise<MountResponse>
}

/** A rule of the contract; rejects with an error that states what was expected. */
export type Rule = (trial: MountTrial) => Promise<void>

/** Creates the trial of a mounted handler. */
export function openTrial(mount: MountContractOptions): MountTrial {
  const { url, fetch = globalThis.fetch } = mount
  const trial: MountTrial = {
    url,
    isOpen: (path) => path.startsWith('/v1'),
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
      const response = await trial.request(path)
      expectSame(`the status of ${path}`, response.status, 200)
      return response
    },
  }
  return trial
}

function toRecord(text: string): MountResponse['record'] {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
