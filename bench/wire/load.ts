import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

import { killOnExit, startChild } from '../../test/system/child.ts'
import { ROOT } from '../../test/system/runtimes.ts'
import { onOwnCore } from './cores.ts'

export interface LoadSettings {
  /** Root of the server. */
  url: string
  /** Path and query. If `distinct` is given, a number follows it, starting after that and incremented with every request. */
  target: string
  distinct?: number | undefined
  /** The largest number, which 1 follows (default none). */
  distinctCount?: number | undefined
  /** Headers of every request besides `Host`, without `distinct`. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Keep-alive connections. */
  connections: number
  seconds: number
}

/** Result of a load in which every response had status 200. */
export interface LoadResult {
  requests: number
  seconds: number
  /** Percentiles of the latency, in ms. */
  p50: number
  p99: number
  /** CPU time of the generator, in seconds. */
  cpu: number
}

/** The load generators. */
export const GENERATORS = { wrk: runWrk, autocannon: runAutocannon } as const

export type GeneratorName = keyof typeof GENERATORS

interface Summary extends LoadResult {
  errors: Record<string, number>
}

const run = promisify(execFile)

/** Returns the version of wrk, or `undefined` if it is not installed. */
export function wrkVersion(): string | undefined {
  // Without a URL, wrk prints its version and usage, and exits with 1.
  return /wrk \S+/.exec(spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0]
}

/** Runs wrk on one thread. Its duration is in whole seconds. */
async function runWrk(settings: LoadSettings): Promise<LoadResult> {
  const { url, target, distinct, distinctCount, connections, seconds, headers = {} } = settings
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${Math.max(1, Math.round(seconds))}s`,
    '--timeout',
    '10s',
  ]
  const script = ['-s', `${ROOT}/bench/wire/load-wrk.lua`]
  const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const range = distinctCount === undefined ? [] : [String(distinctCount)]
  const numbers = distinct === undefined ? [] : ['--', target, String(distinct), ...range]
  const [program = '', ...before] = onOwnCore('load', ['wrk'])
  const running = run(program, [...before, ...args, ...lines, ...script, url + target, ...numbers])
  void killOnExit(running.child)
  const { stdout } = await running
  const [line = '{}'] = /^\{.*\}$/m.exec(stdout) ?? []
  const { errors, ...result }: Summary = JSON.parse(line)
  const reported = Object.entries(errors).filter(([, count]) => count > 0)
  if (reported.length > 0)
    throw new Error(`wrk reported errors at ${url}${target}: ${String(reported)}`)
  return result
}

/** Runs autocannon. */
function runAutocannon(settings: LoadSettings): Promise<LoadResult> {
  const [runtime = '', ...flags] = onOwnCore('load', [process.execPath])
  return reportOf({ program: 'bench/wire/autocannon-program.ts', settings, runtime, flags })
}

/** Runs a program in a separate process, and returns its first line, which is JSON. */
export async function reportOf<Report>(program: Parameters<typeof startChild>[0]): Promise<Report> {
  const child = startChild(program)
  try {
    const report: Report = JSON.parse(await child.firstLine)
    return report
  } finally {
    await child.kill()
  }
}
