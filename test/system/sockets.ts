import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** What came back: the status of the first answer, if there was one, and all of the text. */
export type RawAnswer = Awaited<ReturnType<typeof sendRaw>>

/** A connection to `port`; it never throws. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await new Promise((resolve) => {
    socket.once('connect', resolve).once('close', resolve)
  })
  return socket
}

/** When a client stops to read. */
export interface Reading {
  /** Whether what came so far is enough (default one whole answer). */
  isEnough?: (soFar: string) => boolean
  /** After how many ms without a byte it gives up (default 20,000). */
  patience?: number
  /** The same once the first byte has come (default `patience`). */
  patienceLater?: number
}

/** Writes `text` as it is, and reads until it is enough, the connection is closed or the time is over. */
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

/** Whether the first answer is complete, as far as it says how long it is. */
function isWhole(text: string): boolean {
  const [head = '', body] = text.split('\r\n\r\n', 2)
  if (body === undefined) return false
  const [, length] = /^content-length: (\d+)/im.exec(head) ?? []
  if (length !== undefined) return Buffer.byteLength(body) >= Number(length)
  return text.endsWith('\r\n0\r\n\r\n') || /^HTTP\/1\.[01] (204|304)/.test(text)
}
