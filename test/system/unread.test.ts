import { readFileSync } from 'node:fs'

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { rootOf, serve } from './commands.ts'
import { requireProgram } from './processes.ts'
import { DENO, NODE } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'
import { openSocket, portIn } from './sockets.ts'

const CODES = 'USD,GBP,JPY,CHF,AUD,CAD,SEK,NOK,DKK,PLN,CZK,HUF,TRY,ZAR,BRL,MXN,KRW,INR,SGD,THB'
const CONNECTIONS = 40
const MEGABYTE = 1_048_576
const MOST = 256 * MEGABYTE

/** A body of more than 10 MB. */
function largePath(number: number): string {
  const start = new Date(Date.UTC(1999, 0, 4 + number)).toISOString().slice(0, 10)
  return `/api/v1/history?from=EUR&to=${CODES}&start=${start}&format=csv`
}

/** Requests `path`, and reads not much more than the head of its response. */
async function requestUnread(port: number, path: string) {
  const socket = await openSocket(port)
  onTestFinished(() => void socket.destroy())
  const responded = new Promise<string>((resolve) => {
    socket.once('data', (chunk) => {
      socket.pause()
      resolve(String(chunk))
    })
  })
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  const head = await responded
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1])
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
  return { socket, status, length }
}

/** Returns the peak of the resident memory of a process, in bytes. Linux only. */
function peakMemory(pid = 0): number {
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1_024
}

describe.each<[string, Runtime]>([
  ['Node', NODE],
  ['Deno', DENO],
])('serve on %s', (_, runtime) => {
  beforeEach(({ skip }) => requireProgram(runtime[0], runtime[1], skip))

  it('refuses large bodies while 256 MiB wait for unread ones', { timeout: 900_000 }, async () => {
    const server = serve(['--demo'], {}, runtime)
    const root = await rootOf(server)
    const statusOf = async (path: string): Promise<number> => {
      const response = await fetch(root + path)
      await response.arrayBuffer()
      return response.status
    }
    expect(await statusOf(largePath(0))).toBe(200)
    const before = peakMemory(server.process.pid)
    const responses: Awaited<ReturnType<typeof requestUnread>>[] = []
    const plain: number[] = []
    for (let number = 1; number <= CONNECTIONS; number += 1) {
      responses.push(await requestUnread(portIn(root), largePath(number)))
      plain.push(await statusOf(`/api/v1/convert?from=USD&to=EUR&amount=${number}`))
    }
    expect(new Set(plain)).toEqual(new Set([200]))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 503]))
    const lengths = responses.flatMap(({ status, length }) => (status === 200 ? [length] : []))
    const largest = Math.max(...lengths)
    expect(largest).toBeGreaterThan(10 * MEGABYTE)
    const unread = lengths.reduce((sum, length) => sum + length, 0)
    expect(unread).toBeGreaterThan(MOST)
    // What the operating system has accepted does not count.
    expect(unread).toBeLessThan(MOST + 10 * MEGABYTE * lengths.length)
    expect(peakMemory(server.process.pid) - before).toBeLessThan(MOST + 10 * largest)
    for (const { socket } of responses) socket.destroy()
    await expect.poll(() => statusOf(largePath(0))).toBe(200)
  })
})
