import { get } from 'node:http'

/** A response with its headers as sent. */
export interface SocketResponse {
  status: number
  /** In the order sent, without connection headers. */
  headers: [name: string, value: string][]
  body: Buffer
}

/** Headers of the time and the connection, which may differ between servers. */
const OWN = ['date', 'connection', 'keep-alive']

/** Requests `target` with the fewest possible headers, and `headers`. */
export function fetchRaw(
  url: string,
  target: string,
  headers: { authorization?: string } = {},
): Promise<SocketResponse> {
  return new Promise((resolve, reject) => {
    get(url + target, { agent: false, headers }, (response) => {
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
 * Asserts that a server's response equals that of the handler: status, body, and headers in any order, except the
 * digits of `ttl=`.
 *
 * @throws {Error} naming the server and the difference
 */
export function expectSame(name: string, response: SocketResponse, ours: SocketResponse): void {
  expectEqual(`${name}: status`, response.status, ours.status)
  expectEqual(`${name}: headers`, comparable(response.headers), comparable(ours.headers))
  if (response.body.equals(ours.body)) return
  expectEqual(`${name}: body`, response.body.toString('latin1'), ours.body.toString('latin1'))
}

/**
 * Asserts that a server's response has the same keys and number of points as that of the handler: different arithmetic
 * gives different digits.
 *
 * @throws {Error} naming the server and the difference
 */
export function expectSameKeys(name: string, response: SocketResponse, ours: SocketResponse): void {
  expectEqual(`${name}: status`, response.status, ours.status)
  expectEqual(`${name}: keys`, keysOf(response.body), keysOf(ours.body))
}

const SHOWN = { before: 60, after: 200 }

function expectEqual(what: string, found: unknown, expected: unknown): void {
  const [text, wanted] = [String(found), String(expected)]
  if (text === wanted) return
  let place = 0
  while (text[place] === wanted[place]) place += 1
  const show = (whole: string): string =>
    whole.slice(Math.max(0, place - SHOWN.before), place + SHOWN.after)
  throw new Error(`${what} differs, got:\n${show(text)}\nexpected\n${show(wanted)}`)
}

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase()
    if (!OWN.includes(name)) pairs.push([name, raw[index + 1] ?? ''])
  }
  return pairs
}

function comparable(headers: SocketResponse['headers']): string {
  const lines = headers.map(([name, value]) => `${name}: ${value.replace(/ttl=-?\d+/, 'ttl=N')}`)
  return lines.sort().join('\n')
}

function keysOf(body: Buffer): string {
  const paths: string[] = []
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) paths.push(path)
    else for (const [key, each] of Object.entries(value)) visit(each, `${path}/${key}`)
  }
  visit(JSON.parse(body.toString()), '')
  return paths.join('\n')
}
