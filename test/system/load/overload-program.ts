// Opens many connections that each request the most expensive responses one after another, all distinct, for some
// seconds. Prints an `OverloadLine` after the last response.
import { connect } from 'node:net'

import { reportToParent, settingsFromParent } from '../child.ts'
import { pick } from '../pick.ts'
import type { OverloadLine, OverloadSettings } from './overload.ts'

const CODES = 'AUD CAD CHF CZK DKK EUR GBP HUF JPY NOK NZD PLN SEK USD'.split(' ')
const DAY_MS = 86_400_000

/** Time limit of responses after the last request, in ms. If it is exceeded, `slowest` is at least this. */
const RESPONSE_TIMEOUT_MS = 30_000

const settings: OverloadSettings = JSON.parse(settingsFromParent())
const { hostname, port } = new URL(settings.url)
const line: OverloadLine = { statuses: {}, codings: {}, slowest: 0, wrong: [] }
const endsAt = performance.now() + settings.duration
let [sent, open] = [0, settings.connections]

setTimeout(finish, settings.duration + RESPONSE_TIMEOUT_MS)
for (let number = 0; number < settings.connections; number += 1) openConnection()

/** Written by hand, because an HTTP client would take as much CPU as the server. */
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
  socket.on('error', ({ message }) => reportProblem(message))
  socket.on('close', () => {
    open -= 1
    if (open === 0) finish()
  })
}

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
  } else if (!/^HTTP\/1\.1 503.*^retry-after: [1-5]\r/ims.test(head)) reportProblem(head)
}

function reportProblem(about: string): void {
  if (line.wrong.length < 10) line.wrong.push(about)
}

function finish(): void {
  if (open > 0) {
    reportProblem(`${open} without a response`)
    line.slowest = Math.max(line.slowest, RESPONSE_TIMEOUT_MS)
  }
  reportToParent(line)
  process.exit()
}
