import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams as Child } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Transport, VersionNegotiationOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { serve } from '../../adapters/node.ts'
import type { RunningServer } from '../../adapters/node.ts'
import { createRates } from '../../src/index.ts'
import { createMcpHandler } from '../../src/mcp/index.ts'
import { market } from '../fixtures/service.ts'
import { CLI, serveForSuite } from './commands.ts'
import { writeConfig } from './config-file.ts'
import { describeRuntimes, run, temporaryFolder } from './processes.ts'
import { NODE, ROOT } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'
import { portIn, sendRaw } from './sockets.ts'

const CONFIG = writeConfig(
  `import { createMcpHandler } from 'ratesmith/mcp'
  const at = (path, options) =>
    ({ path, post: (request, rates) => createMcpHandler(rates, options)(request) })
  const open = { allowedHosts: ['rates.example.com'], allowedOrigins: ['https://app.example.com'] }
  export default { routes: [at('/mcp'), at('/open', open)] }`,
  'config.mjs',
  afterAll,
)

/** How clients choose the version of the protocol, and the version that they get. */
const MODES: [versions: VersionNegotiationOptions, version: string][] = [
  [{ mode: 'legacy' }, '2025-11-25'],
  [{ mode: 'auto' }, '2026-07-28'],
  [{ mode: { pin: '2026-07-28' } }, '2026-07-28'],
]

/** A call of each tool. */
const CALLS: [name: string, given: Record<string, unknown>, record: object][] = [
  ['convert', { from: 'usd', to: 'USD', amount: '99.90' }, { amount: 99.9, result: 99.9 }],
  ['get_rates', { base: 'EUR', symbols: ['USD'] }, { rates: { USD: expect.any(Number) } }],
  ['get_history', { from: 'USD', to: 'EUR', period: '1Y' }, { omitted: expect.any(Number) }],
  ['find_currency', { query: 'Kenya' }, { currencies: [{ code: 'KES' }] }],
  ['get_status', {}, { ready: true }],
]

/** Wrong parameters of `convert`, and what the message proposes. */
const MISTAKES: [given: object, advice: RegExp, mended: object][] = [
  [{ quantity: 2 }, /use amount/, { amount: 2 }],
  [{ from: 'GBp' }, /divide the amount by 100/, { from: 'GBP' }],
  [{ from: 'DEM' }, /use EUR/, { from: 'EUR' }],
]

const ajv = formats.default(new Ajv2020({ strict: false }))

/** Lists and calls all tools as an agent does; the client also checks the records by the output schemas. */
async function expectTools(
  transport: Transport,
  [versionNegotiation, version]: (typeof MODES)[number],
): Promise<void> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation })
  const errors: Error[] = []
  Object.assign(client, { onerror: (error: Error) => void errors.push(error) })
  onTestFinished(() => client.close())
  await client.connect(transport)
  expect(client.getNegotiatedProtocolVersion()).toBe(version)
  expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: false } })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(CALLS.map(([name]) => name))
  for (const [index, [name, given, record]] of CALLS.entries()) {
    const { title, annotations, inputSchema, outputSchema } = tools[index] ?? {}
    expect(title).toMatch(/^[A-Z]/)
    expect(annotations).toEqual({ readOnlyHint: true, idempotentHint: true })
    expect(ajv.validate(Object(inputSchema), given)).toBe(true)
    const { structuredContent, isError } = await client.callTool({ name, arguments: given })
    expect({ isError, structuredContent }).toMatchObject({ structuredContent: record })
    expect([name, ajv.validate(Object(outputSchema), structuredContent)]).toEqual([name, true])
  }
  for (const [given, advice, mended] of MISTAKES) {
    const convert = async (changed: object) =>
      client.callTool({ name: 'convert', arguments: { from: 'USD', to: 'JPY', ...changed } })
    const content = [{ type: 'text', text: expect.stringMatching(advice) }]
    expect(await convert(given)).toMatchObject({ isError: true, content })
    expect((await convert(mended)).isError).toBeUndefined()
  }
  await expect(client.callTool({ name: 'buy' })).rejects.toMatchObject({ code: -32_602 })
  // Streams would stay open.
  const changes = client.listen({ toolsListChanged: true })
  await expect(changes).rejects.toThrow(/limit reached|requires a 2026/)
  expect(errors).toEqual([])
}

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
const TYPES = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

async function statusOf(url: string, headers: object = {}, body = PING, method = 'POST') {
  const outgoing = request(url, { method, headers: { ...TYPES, ...headers }, agent: false })
  const [response]: IncomingMessage[] = await once(outgoing.end(body), 'response')
  response?.resume()
  return response?.statusCode
}

/** What ends `ratesmith mcp`. */
const ENDS: [cause: string, end: (child: Child) => void, ended: object][] = [
  ['the end of stdin', ({ stdin }) => stdin.end(), [0, null]],
  [
    'a closed stdout',
    ({ stdin, stdout }) => stdout.destroy().once('close', () => stdin.write(PING)),
    [0, null],
  ],
  ['SIGTERM', (child) => child.kill('SIGTERM'), [null, 'SIGTERM']],
]

function commandOf([, command, ...parameters]: Runtime) {
  return { command, args: [...parameters, CLI, 'mcp', '--demo'] }
}

describeRuntimes('tools for agents', (runtime) => {
  const server = serveForSuite([CONFIG], runtime)

  it.each(MODES)('serve the official client over HTTP: %j', async (...mode) => {
    await expectTools(new StreamableHTTPClientTransport(new URL(`${server.root}/mcp`)), mode)
  })

  it.each(MODES)('serve the official client on stdio: %j', async (...mode) => {
    await expectTools(new StdioClientTransport(commandOf(runtime)), mode)
  })

  it.each(ENDS)('print only messages on stdio, until %s', async (_, end, ended) => {
    const { command, args } = commandOf(runtime)
    const child = spawn(command, args)
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stdin.on('error', () => {}).write(`noise\n${PING}`)
    const closed = once(child, 'close')
    const stderr = text(child.stderr)
    const [message] = await once(child.stdout.setEncoding('utf8'), 'data')
    expect(message).toBe('{"result":{},"jsonrpc":"2.0","id":1}\n')
    child.stdout.on('data', (more) => expect.unreachable(more))
    end(child)
    expect(await closed).toEqual(ended)
    expect(await stderr).toBe('')
  })

  it('refuse foreign hosts and websites unless they are allowed', async () => {
    const [host, origin] = ['rates.example.com', 'https://app.example.com']
    const others = [{ host: 'other.example.com' }, { origin: 'https://other.example.com' }]
    const sent = [{}, { host, origin }, { host }, { origin }, ...others]
    const statuses = async (path: string) =>
      Promise.all(sent.map(async (headers) => statusOf(server.root + path, headers)))
    expect(await statuses('/mcp')).toEqual([200, 403, 403, 403, 403, 403])
    expect(await statuses('/open')).toEqual([200, 200, 200, 200, 403, 403])
  })

  it('take a request without a host, which no browser sends, unless its website is foreign', async () => {
    const lines = Object.entries(TYPES).map(([name, value]) => `${name}: ${value}\r\n`)
    const start = `POST /mcp HTTP/1.0\r\n${lines.join('')}content-length: ${PING.length}\r\n`
    const statusWith = async (origin: string) =>
      (await sendRaw(portIn(server.root), `${start}${origin}\r\n${PING}`)).status
    expect(await statusWith('')).toBe(200)
    expect(await statusWith('origin: https://other.example.com\r\n')).toBe(403)
  })

  it('take one short message in each request', async () => {
    const url = `${server.root}/mcp`
    expect(await statusOf(url, {}, `[${PING}]`)).toBe(400)
    expect(await statusOf(url, {}, PING.padEnd(65_537))).toBe(413)
    expect(await statusOf(url, {}, '', 'GET')).toBe(405)
  })
})

/**
 * The scenarios of the conformance suite that need no more than tools. The others need its own tools (`tools-call-*` and
 * `json-schema-2020-12`), sessions (`server-sse-*`), or what this server does not offer: `logging-*`, `completion-*`,
 * `elicitation-*`, `resources-*` and `prompts-*`.
 */
const SCENARIOS = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']

describe('the conformance suite', () => {
  const routed = serveForSuite([CONFIG])
  let bare: RunningServer
  beforeAll(async () => {
    bare = await serve(createMcpHandler(createRates({ providers: market })), { port: 0 })
    return () => bare.stop()
  })

  it.each(SCENARIOS)('passes: %s', async (scenario) => {
    for (const url of [`${routed.root}/mcp`, bare.url]) {
      const program = `${ROOT}/node_modules/@modelcontextprotocol/conformance/dist/index.js`
      const args = [program, 'server', '--url', url, '--scenario', scenario]
      const { code, stdout } = await run(NODE[1], args, { cwd: temporaryFolder() })
      expect(code).toBe(0)
      expect(stdout).toMatch(/Passed: ([1-9])\/\1, 0 failed, 0 warnings/)
    }
  })
})
