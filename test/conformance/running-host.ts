import { existsSync } from 'node:fs'

import { afterAll, beforeAll, beforeEach } from 'vitest'

import { requireProgram } from '../system/require-program.ts'
import { openHttp1 } from './exchange.ts'
import type { Client } from './exchange.ts'
import type { Host, Listening } from './hosts.ts'

/** A host that listens, and a client that asks it. */
export interface RunningHost {
  readonly port: number
  readonly client: Client
}

/** `host` for the tests of a suite, which are skipped where what runs it is not installed. It runs from the first to the last. */
export function runHost({ name, program, prefix = '', openClient, start }: Host): RunningHost {
  let listening: Listening | undefined
  let client: Client | undefined

  beforeAll(async () => {
    if (!existsSync(program)) return
    listening = await start()
    client = (openClient ?? openHttp1)(listening.port)
    // Whatever is asked later finds the data loaded.
    for (const target of ['/api/v1/latest', '/api/v1/history?from=EUR&to=USD']) {
      await client.ask({ method: 'GET', target: prefix + target })
    }
  })
  beforeEach(({ skip }) => requireProgram(name, program, skip))
  afterAll(async () => {
    client?.close()
    await listening?.stop()
  })

  return {
    get port() {
      return given(listening).port
    },
    get client() {
      return given(client)
    },
  }
}

function given<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Error('the host does not run')
  return thing
}
