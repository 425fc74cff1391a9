import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** What came back: the status of the first response, if any, and the whole text. */
export type RawAnswer = Awaited<ReturnType<typeof sendRaw>>

/** Opens a connection to `port`; never throws. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await new Promise((resolve) => {
    socket.once('connect', resolve).once('close', resolve)
  })
  return socket
}

/** When a client stops reading. */
export interface Reading {
  /** Returns whether the text so far is complete (default one whole response). */
  isEnough?: (soFar: string) => boolean
  /** Time without a byte before it gives up, in ms (default 20,000). */
  patience?: number
  /** The same after the first byte (default `patience`). */
  patienceLater?: number
}

/** Writes `text` as it is, and reads until it is complete, the connection closes or the time limit is reached. */
export async function sendRaw(
  port: number,
  text: string,
  { isEnough = isWhole, patience = 20_000, patienceLater = patience }: Reading = {},
) {
  const socket = await openSocket(port)
  let heard = ''
  await new Promise<void>((resolve) => {
    let giveUp = setTimeout(resolve, patience)
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      heard += chunk
      clearTimeout(giveUp)
      giveUp = setTimeout(resolve, patienceLater)
      if (isEnough(heard)) socket.destroy()
    })
    socket.once('close', () => {
      clearTimeout(giveUp)
      resolve()
    })
    socket.write(text)
  })
  socket.destroy()
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(heard) ?? []
  return { status: status === undefined ? undefined : Number(status), text: heard }
}

/** Returns whether the first response is complete, if its length is known. */
function isWhole(text: string): boolean {
  const [head = '', body] = text.split('\r\n\r\n', 2)
  if (body === undefined) return false
  const [, length] = /^content-length: (\d+)/im.exec(head) ?? []
  if (length !== undefined) return Buffer.byteLength(body) >= Number(length)
  return text.endsWith('\r\n0\r\n\r\n') || /^HTTP\/1\.[01] (204|304)/.test(text)
}
