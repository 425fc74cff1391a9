// Many connections that each ask for the most expensive answers, one after another, all distinct, for some seconds. Prints an
// `OverloadLine` when the last answer is there.
import { connect } from 'node:net'

import { settingsFromParent, tellParent } from '../../test/system/child.ts'
import { pick } from '../../test/system/pick.ts'

/** The load. */
export interface OverloadSettings {
  url: string
  connections: number
  /** How long new requests are sent, in ms. */
  duration: number
  acceptEncoding: string
}

/** What came of it. */
export interface OverloadLine {
  /** Responses by status. */
  statuses: Record<string, number>
  /** Responses with status 200 by content coding. */
  codings: Record<string, number>
  /** The slowest response, in ms. */
  slowest: number
  /** What was wrong, the first few. */
  wrong: string[]
}

const CODES = 'AUD CAD CHF CZK DKK EUR GBP HUF JPY NOK NZD PLN SEK USD'.split(' ')
const DAY_MS = 86_400_000

/** How long responses may take after the last request, in ms; the slowest is then at least this. */
const PATIENCE_MS = 30_000

const settings: OverloadSettings = JSON.parse(settingsFromParent())
const { hostname, port } = new URL(settings.url)
const line: OverloadLine = { statuses: {}, codings: {}, slowest: 0, wrong: [] }
const endsAt = performance.now() + settings.duration
let [sent, open] = [0, settings.connections]

setTimeout(finish, settings.duration + PATIENCE_MS)
for (let number = 0; number < settings.connections; number += 1) openConnection()

/** By hand, because an HTTP client would take as much of the machine as the server. */
function openConnection(): void {
  const socket = connect(Number(port), hostname)
  let [head, missing, sentAt] = ['', 0, 0]

  function next(): void {
    if (performance.now() > endsAt) {
      socket.end()
      return
    }
    head = ''
    sentAt = performance.now()
    const headers = `host: ${hostname}\r\naccept-encoding: ${settings.acceptEncoding}`
    socket.write(`GET ${nextTarget()} HTTP/1.1\r\n${headers}\r\n\r\n`)
  }

  socket.on('connect', next)
  socket.on('data', (chunk) => {
    if (head.endsWith('\r\n\r\n')) missing -= chunk.length
    else {
      const text = head + chunk.toString('latin1')
      head = text.slice(0, text.indexOf('\r\n\r\n') + 4)
      if (!head.endsWith('\r\n\r\n')) head = text
      missing = head.length + Number(/^content-length: (\d+)/im.exec(head)?.[1]) - text.length
    }
    if (missing > 0 || !head.endsWith('\r\n\r\n')) return
    record(head, performance.now() - sentAt)
    next()
  })
  socket.on('error', ({ message }) => complain(message))
  socket.on('close', () => {
    open -= 1
    if (open === 0) finish()
  })
}

/** A history since 1999 as CSV that was not asked for before. */
function nextTarget(): string {
  const number = sent
  sent += 1
  const from = pick(CODES, number)
  const to = pick(CODES, number + 1 + (Math.floor(number / CODES.length) % (CODES.length - 1)))
  const start = new Date(Date.UTC(1999, 0, 4) + (number % 900) * DAY_MS).toISOString().slice(0, 10)
  return `/api/v1/history?from=${from}&to=${to}&start=${start}&format=csv`
}

function record(head: string, latency: number): void {
  const [, status = '?'] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? []
  line.statuses[status] = (line.statuses[status] ?? 0) + 1
  line.slowest = Math.max(line.slowest, latency)
  if (status === '200') {
    const [, coding = 'none'] = /^content-encoding: (\w+)/im.exec(head) ?? []
    line.codings[coding] = (line.codings[coding] ?? 0) + 1
  } else if (!/^HTTP\/1\.1 503.*^retry-after: [1-5]\r/ims.test(head)) complain(head)
}

function complain(about: string): void {
  if (line.wrong.length < 10) line.wrong.push(about)
}

function finish(): void {
  if (open > 0) {
    complain(`${open} without a response`)
    line.slowest = Math.max(line.slowest, PATIENCE_MS)
  }
  tellParent(line)
  process.exit()
}
