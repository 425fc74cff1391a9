import { statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import type { FetchHandler } from '../../adapters/node.ts'
import type { RatesHandler, RatesHandlerOptions, ServerOptions } from '../index.ts'
import { assertKnownOptions, nearest } from '../known-options.ts'
import { toSingleLine } from '../log.ts'
import { UsageError, messageOf, withUsageError } from './usage.ts'

/** A handler of a config file: that of `createRatesHandler`, a wrapper around it, or any function in fetch style. */
export type ConfiguredHandler = FetchHandler & Partial<Omit<RatesHandler, 'fetch' | 'answer'>>

export interface Config {
  /** The options of the handler; undefined if the file has a handler. */
  options?: RatesHandlerOptions | undefined
  handler?: ConfiguredHandler | undefined
  server: ServerOptions
}

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs']

const EXPECTED = 'the options of createRatesHandler, a handler or { fetch }'

/** @throws {UsageError} naming the file, if it cannot be imported or exports something else */
export async function loadConfig(file: string): Promise<Config> {
  const exported = await importFile(file)
  const misspelt = Object.keys(exported).find((name) => {
    const isKnown = ['default', 'server', 'module.exports'].includes(name)
    return !isKnown && nearest(name, ['server'], 2).length > 0
  })
  if (misspelt !== undefined) {
    throw new UsageError(`${file}: unknown export "${misspelt}"; did you mean "server"?`)
  }
  if (!('default' in exported)) {
    throw new UsageError(`${file} has no default export; export ${EXPECTED}`)
  }
  const { default: main, server = {} } = exported
  const handler = handlerIn(main)
  if (!handler && describe(main) !== 'an object') {
    throw new UsageError(`the default export of ${file} must be ${EXPECTED}, got ${describe(main)}`)
  }
  withUsageError(file, () => assertServerOptions(server))
  const { checkTls } = await import('./tls.ts')
  const tls = withUsageError(file, () => checkTls(server.tls))
  const options = handler ? undefined : Object(main)
  return { options, handler, server: { ...server, tls } }
}

async function importFile(file: string): Promise<{ default?: unknown; server?: ServerOptions }> {
  const path = resolve(file)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new UsageError(`${file} does not exist`)
  if (!found.isFile() || !EXTENSIONS.includes(extname(file))) {
    throw new UsageError(`the config file must be a ${EXTENSIONS.join(', ')} file, got ${file}`)
  }
  const { href } = pathToFileURL(path)
  try {
    return await import(href)
  } catch (error) {
    throw new UsageError(`${file}${lineOf(error, [href, path])}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

/** Returns the first line of the stack that is in the file, as `:12`; empty without one. */
function lineOf(error: unknown, places: readonly string[]): string {
  const { stack = '' }: { stack?: string } = Object(error)
  const ends = places.map((place) => stack.split(place, 2)[1] ?? '')
  return ends.map((end) => /^:\d+/.exec(end)?.[0]).find(Boolean) ?? ''
}

function reasonOf(error: unknown): string {
  const reason = toSingleLine(
    messageOf(error)
      .trim()
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .join('; '),
  )
  return /outside a module/.test(reason) ? `${reason}; use a .mts or .mjs file` : reason
}

/** Returns the handler that `main` is or has; undefined for options, which may also have a `fetch`. */
function handlerIn(main: unknown): ConfiguredHandler | undefined {
  if (isHandler(main)) return main
  const { fetch }: { fetch?: unknown } = Object(main)
  if (!isHandler(fetch) || isOptionsWithFetch(Object(main))) return undefined
  return 'answer' in fetch ? fetch : (request, info) => fetch.call(main, request, info)
}

function isHandler(value: unknown): value is ConfiguredHandler {
  return typeof value === 'function'
}

/** Returns whether `main` has more than a `fetch`. An app of a framework is an instance of a class. */
function isOptionsWithFetch(main: object): boolean {
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(main))
  return isPlain && Object.keys(main).length > 1
}

function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise; await it in the file'
  if (value === null) return 'null'
  if (typeof value !== 'object') return `a ${typeof value}`
  return Array.isArray(value) ? 'an array' : 'an object'
}

/** @throws {TypeError} that names the invalid option */
function assertServerOptions(server: ServerOptions): void {
  const known = { tls: true, metrics: true, accessLog: true, compress: true }
  assertKnownOptions(server, known, 'server')
  const { metrics, compress, accessLog } = server
  const isObject = typeof accessLog === 'object' && accessLog !== null
  if (isObject) assertKnownOptions(accessLog, { clients: true }, 'server.accessLog')
  const logFlags = isObject ? { 'accessLog.clients': accessLog.clients } : { accessLog }
  for (const [name, value] of Object.entries({ metrics, compress, ...logFlags })) {
    if (value === undefined || typeof value === 'boolean') continue
    throw new TypeError(`server.${name} must be true or false, got ${String(value)}`)
  }
}
