import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { get } from 'node:http'

import { killOnExit } from '../../test/system/child.ts'
import { ROOT } from '../../test/system/runtimes.ts'

const FIRST_TARGET = '/api/v1/convert?from=USD&to=EUR'

/** Returns the time from the start of Node with `args` to the first response of its server, in ms. */
export async function timeToResponse(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = startNode(args)
  const ended = killOnExit(child)
  try {
    const status = await Promise.race([
      listening(child).then((url) => statusOf(url + FIRST_TARGET)),
      ended.then(() => 'its end'),
    ])
    const elapsed = performance.now() - startedAt
    if (status !== 200) throw new Error(`${args.join(' ')} responded with ${status}`)
    return elapsed
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

/** Returns the time from the start of Node with `args` to its end, in ms. */
export async function timeToEnd(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = startNode(args)
  await killOnExit(child)
  const elapsed = performance.now() - startedAt
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`)
  return elapsed
}

function startNode(args: readonly string[]): ChildProcess {
  // No start may use the compile cache of an earlier one.
  const { NODE_COMPILE_CACHE: _cache, NODE_OPTIONS: _options, ...env } = process.env
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] })
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const [url] = /http:\/\/\S+:\d+/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
  })
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.on('end', () => resolve(response.statusCode)).resume()
    }).on('error', reject)
  })
}
