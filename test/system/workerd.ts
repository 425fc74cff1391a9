import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'

import { build } from 'esbuild'
import { onTestFinished } from 'vitest'

import { ROOT, findPackage } from './runtimes.ts'

/** The used part of Miniflare, whose own declarations need packages that it does not install. */
export interface Simulator {
  getWorker(name: string): Promise<{
    fetch(url: string): Promise<Response>
    scheduled(options: { cron: string }): Promise<{ outcome: string }>
  }>
  /** Returns the address of a Worker with a direct socket. */
  unsafeGetDirectURL(): Promise<URL>
  getKVNamespace(binding: string, worker: string): Promise<{ list(): Promise<{ keys: unknown[] }> }>
  dispose(): Promise<void>
}
/** Cloudflare's simulator: workerd, with fakes of its services. Undefined if it is not installed. */
export const { Miniflare }: { Miniflare: new (options: object) => Simulator } = Object(
  findPackage('miniflare') ? createRequire(import.meta.url)('miniflare') : {},
)

/** The behaviour of workerd to use. */
export const COMPATIBILITY_DATE = '2026-07-01'

/**
 * Bundles a Worker with the built package, like a user's tools; `program` is a path, relative to the project's root.
 */
export async function bundleWorker(program: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [resolve(ROOT, program)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    conditions: ['workerd', 'worker', 'import'],
    external: ['cloudflare:*'],
    logLevel: 'error',
    // Without the path mappings of the tests, which lead to the sources.
    tsconfigRaw: {},
  })
  return outputFiles[0]?.text ?? ''
}

/** Starts a Worker with a socket that bypasses the simulated edge, which compresses responses. */
export async function startWorker(program: string) {
  const simulator = new Miniflare({
    cf: false,
    modules: true,
    script: await bundleWorker(program),
    compatibilityDate: COMPATIBILITY_DATE,
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  })
  const { origin: url } = await simulator.unsafeGetDirectURL()
  return { url, stop: () => simulator.dispose() }
}

/** Settings of a simulation. */
export interface WorkerSettings {
  script: string
  outboundService(request: Request): Response | Promise<Response>
  /** Variables in addition to the KV namespace, by Worker (default none). */
  bindings?: Record<string, Record<string, string>>
  /** Receives the log of workerd (default none). */
  onLog?: (text: string) => void
}

/**
 * Opens two Workers of one script, `one` and `two`, in separate isolates that share a KV namespace and a data centre.
 * They end with the test.
 */
export function openWorkers(settings: WorkerSettings): Simulator {
  const { script, outboundService, bindings = {}, onLog = () => {} } = settings
  const workers = ['one', 'two'].map((name) => ({
    name,
    modules: true,
    script,
    compatibilityDate: COMPATIBILITY_DATE,
    kvNamespaces: { RATES: 'rates' },
    bindings: bindings[name] ?? {},
    outboundService,
  }))
  const simulator = new Miniflare({
    cf: false,
    host: '127.0.0.1',
    workers,
    verbose: true,
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      stdout.resume()
      stderr.setEncoding('utf8').on('data', onLog)
    },
  })
  onTestFinished(() => simulator.dispose())
  return simulator
}
