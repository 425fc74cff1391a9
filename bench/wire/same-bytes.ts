import { get } from 'node:http'

/** An answer as it comes off the socket. */
export interface SocketAnswer {
  status: number
  /** In the order sent, without what belongs to the connection. */
  headers: [name: string, value: string][]
  body: Buffer
}

/** Headers of the moment and of the connection, which no server has to share with another. */
const OWN = ['date', 'connection', 'keep-alive']

/** Asks a server for `target` with the fewest headers that there can be. */
export function ask(url: string, target: string): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    get(url + target, { agent: false }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0, rawHeaders } = response
        resolve({ status, headers: pairsOf(rawHeaders), body: Buffer.concat(parts) })
      })
    }).on('error', reject)
  })
}

/**
 * Asserts that a server's answer is ours: status, body, and headers in any order, but for the digits of `ttl=`.
 *
 * @throws {Error} naming the server and what differs
 */
export function expectSame(name: string, answer: SocketAnswer, ours: SocketAnswer): void {
  expectEqual(`${name}: status`, answer.status, ours.status)
  expectEqual(`${name}: headers`, comparable(answer.headers), comparable(ours.headers))
  if (answer.body.equals(ours.body)) return
  expectEqual(`${name}: body`, answer.body.toString('latin1'), ours.body.toString('latin1'))
}

/**
 * Asserts that a server's answer has the keys of ours, and as many points: another arithmetic gives other digits.
 *
 * @throws {Error} naming the server and what differs
 */
export function expectSameKeys(name: string, answer: SocketAnswer, ours: SocketAnswer): void {
  expectEqual(`${name}: status`, answer.status, ours.status)
  expectEqual(`${name}: keys`, keysOf(answer.body), keysOf(ours.body))
}

/** How much of a text is shown around the first place that differs. */
const SHOWN = { before: 60, after: 200 }

function expectEqual(what: string, found: unknown, expected: unknown): void {
  const [text, wanted] = [String(found), String(expected)]
  if (text === wanted) return
  let place = 0
  while (text[place] === wanted[place]) place += 1
  const show = (whole: string): string =>
    whole.slice(Math.max(0, place - SHOWN.before), place + SHOWN.after)
  throw new Error(`${what} is not ours:\n${show(text)}\nin place of\n${show(wanted)}`)
}

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase()
    if (!OWN.includes(name)) pairs.push([name, raw[index + 1] ?? ''])
  }
  return pairs
}

function comparable(headers: SocketAnswer['headers']): string {
  const lines = headers.map(([name, value]) => `${name}: ${value.replace(/ttl=-?\d+/, 'ttl=N')}`)
  return lines.sort().join('\n')
}

/** Every path of keys of a JSON text, in its order. */
function keysOf(body: Buffer): string {
  const paths: string[] = []
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) paths.push(path)
    else for (const [key, each] of Object.entries(value)) visit(each, `${path}/${key}`)
  }
  visit(JSON.parse(body.toString()), '')
  return paths.join('\n')
}
