import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import { describe, expect, it, onTestFinished } from 'vitest'

import { startChild } from './child.ts'
import { openSocket } from './sockets.ts'
import type { StreamsState } from './streams-program.ts'

const MEGABYTE = 1_048_576

const PATH = '/api/v1/days?start=1999-01-04'

/** Starts a server that has loaded the rates, and compiled the code. */
async function openServer(...flags: string[]) {
  const program = 'test/system/streams-program.ts'
  const child = startChild({ program, settings: {}, flags: ['--expose-gc', ...flags] })
  onTestFinished(child.kill)
  const { port }: { port: number } = JSON.parse(await child.firstLine)
  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`)
  const readAll = async (): Promise<number> => (await (await get(PATH)).arrayBuffer()).byteLength
  for (let round = 0; round < 3; round += 1) await readAll()
  return {
    readAll,
    async state(path: '/state' | '/reset' = '/state'): Promise<StreamsState> {
      return JSON.parse(await (await get(path)).text())
    },
    /** Returns a connection that has received the first bytes of a response. */
    async openReader() {
      const socket = await openSocket(port)
      socket.write(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      await once(socket, 'readable')
      return socket
    },
  }
}

describe('every day since 1999', () => {
  it('takes less than 20 MB of memory', async () => {
    // With a small young generation, memory is what is in use.
    const { state, readAll } = await openServer('--max-semi-space-size=1')
    await state('/reset')
    const sizes = await Promise.all(Array.from({ length: 4 }, readAll))
    expect(Math.min(...sizes)).toBeGreaterThan(3 * MEGABYTE)
    expect((await state()).growth).toBeLessThan(20 * MEGABYTE)
  })

  it('delays others by less than 10 ms, also while 40 clients read 10 kB a second', async () => {
    const { state, readAll, openReader } = await openServer()
    const slow = await Promise.all(Array.from({ length: 40 }, openReader))
    const longest: number[] = []
    for (let window = 0; window < 5; window += 1) {
      await state('/reset')
      for (let round = 0; round < 5; round += 1) {
        for (const socket of slow) socket.read(1_000)
        await Promise.all([readAll(), sleep(100)])
      }
      longest.push((await state()).longest)
    }
    for (const socket of slow) socket.destroy()
    // A collection of garbage may take longer on a busy machine.
    expect(longest.toSorted((one, other) => one - other)[2]).toBeLessThan(10)
  })

  it('is not computed any further for clients that have left', async () => {
    const { state, openReader } = await openServer()
    const readers = await Promise.all(Array.from({ length: 40 }, openReader))
    for (const socket of readers) socket.destroy()
    await expect.poll(async () => (await state()).open).toBe(0)
  })
})
