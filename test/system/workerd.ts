import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'

import { build } from 'esbuild'
import { onTestFinished } from 'vitest'

import { ROOT } from './root.ts'
import { findPackage } from './runtimes.ts'

/** What of Miniflare is used: its own declarations need packages that it does not bring along. */
export interface Simulator {
  getWorker(name: string): Promise<{
    fetch(url: string): Promise<Response>
    scheduled(options: { cron: string }): Promise<{ outcome: string }>
  }>
  /** Where a Worker with a direct socket listens. */
  unsafeGetDirectURL(): Promise<URL>
  getKVNamespace(binding: string, worker: string): Promise<{ list(): Promise<{ keys: unknown[] }> }>
  dispose(): Promise<void>
}
/** Cloudflare's simulator: workerd itself, and stand-ins for the services around it. Undefined where it is not installed. */
export const { Miniflare }: { Miniflare: new (options: object) => Simulator } = Object(
  findPackage('miniflare') ? createRequire(import.meta.url)('miniflare') : {},
)

/** Which behaviour of workerd is asked for. */
export const COMPATIBILITY_DATE = '2026-07-01'

/** A Worker with the built package in it, as a user's tools make it; `program` is a path, from the project's root if it is relative. */
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
    // Without the paths of the tests' own configuration, which lead to the sources.
    tsconfigRaw: {},
  })
  return outputFiles[0]?.text ?? ''
}

/** What is to run in workerd, and what it finds there. */
export interface WorkerSettings {
  script: string
  /** Whatever a Worker asks of others, it asks this. */
  outboundService(request: Request): Response | Promise<Response>
  /** Variables beside the KV namespace, by Worker (default none). */
  bindings?: Record<string, Record<string, string>>
  /** Given what workerd itself logs (default nobody). */
  onLog?: (text: string) => void
}

/**
 * Two Workers of one script, `one` and `two`, each an isolate of its own: they share a KV namespace and a data centre. They
 * end with the test.
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
