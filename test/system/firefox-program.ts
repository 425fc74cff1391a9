#!/usr/bin/env node
// Starts Firefox for Playwright, with its arguments. Playwright cannot do without a command that Firefox ESR does not have yet:
// this program relays all messages, and reports success for that command where Firefox does not know it.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

import { WebSocketServer } from 'ws'
import type { WebSocket as Client } from 'ws'

import { FIREFOX } from './launch-browser.ts'

const OPTIONAL = 'emulation.setMediaFeaturesOverride'

const firefox = spawn(FIREFOX, process.argv.slice(2), { stdio: ['ignore', 'ignore', 'pipe'] })
firefox.on('exit', (code) => process.exit(code ?? 1))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => firefox.kill(signal))

createInterface(firefox.stderr).on('line', (line) => {
  const [, address] = /BiDi listening on (ws:\S+)/.exec(line) ?? []
  if (address === undefined) process.stderr.write(`${line}\n`)
  else listen(`${address}/session`)
})

/** Listens on a free port, and prints it as Firefox prints its own. */
function listen(target: string): void {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  server.on('connection', (client) => relay(client, new WebSocket(target)))
  server.on('listening', () => {
    const address = server.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${port}\n`)
  })
}

function relay(client: Client, firefox: WebSocket): void {
  const isOpen = new Promise((resolve) => {
    firefox.addEventListener('open', resolve)
  })
  const sent = new Set<number>()
  client.addEventListener('message', async ({ data }) => {
    if (typeof data !== 'string') return
    const { id, method }: { id: number; method: string } = JSON.parse(data)
    if (method === OPTIONAL) sent.add(id)
    await isOpen
    firefox.send(data)
  })
  firefox.addEventListener('message', ({ data }) => {
    const { id, error }: { id?: number; error?: string } = JSON.parse(data)
    const isUnknown = id !== undefined && sent.has(id) && error === 'unknown command'
    client.send(isUnknown ? JSON.stringify({ type: 'success', id, result: {} }) : data)
  })
  firefox.addEventListener('close', () => client.close())
  client.addEventListener('close', () => firefox.close())
}
