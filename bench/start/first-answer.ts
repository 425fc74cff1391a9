import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { get } from 'node:http'

import { endWithThis } from '../../test/system/child.ts'
import { ROOT } from '../../test/system/root.ts'

/** What is asked first. */
const QUESTION = '/api/v1/convert?from=USD&to=EUR'

/** The time from starting Node with `args` until a server that says where it listens has answered, in ms. */
export async function timeToAnswer(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = startNode(args)
  const ended = endWithThis(child)
  try {
    const status = await Promise.race([
      listening(child).then((url) => askedOnce(url + QUESTION)),
      ended.then(() => 'its end'),
    ])
    const elapsed = performance.now() - startedAt
    if (status !== 200) throw new Error(`${args.join(' ')} answered with ${status}`)
    return elapsed
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

/** The time from starting Node with `args` until it has ended, in ms. */
export async function timeToEnd(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = startNode(args)
  await endWithThis(child)
  const elapsed = performance.now() - startedAt
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`)
  return elapsed
}

function startNode(args: readonly string[]): ChildProcess {
  // Code that an earlier start has compiled is for no start to find.
  const { NODE_COMPILE_CACHE: _cache, NODE_OPTIONS: _options, ...env } = process.env
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] })
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const [, url] = /listens on (http:\S+:\d+)/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
  })
}

/** The status, once the last byte is there. */
function askedOnce(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.on('end', () => resolve(response.statusCode)).resume()
    }).on('error', reject)
  })
}
