import { statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import type { FetchHandler } from '../../adapters/node.ts'
import type { RatesHandler, RatesHandlerOptions, ServerOptions } from '../index.ts'
import { assertKnownOptions, nearest } from '../known-options.ts'
import { toSingleLine } from '../log.ts'
import { platform } from './context.ts'
import { UsageError, messageOf, withUsageError } from './usage.ts'

/** A handler of a config file: that of `createRatesHandler`, a wrapper around it, or any function in fetch style. */
export type ConfiguredHandler = FetchHandler & Partial<Omit<RatesHandler, 'fetch' | 'answer'>>

export interface Config {
  file: string | undefined
  /** The options of the handler; undefined if the file has a handler. */
  options: RatesHandlerOptions | undefined
  handler: ConfiguredHandler | undefined
  server: ServerOptions
}

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs']

const EXPECTED = 'the options of createRatesHandler, a handler or { fetch }'

const NOT_EXPORTED = ['default', 'server', 'module.exports']

/** @throws {UsageError} naming the file, if it cannot be imported or exports something else */
export async function loadConfig(file: string): Promise<Config> {
  const exported = await importFile(file)
  const misspelt = Object.keys(exported).find(
    (name) => !NOT_EXPORTED.includes(name) && nearest(name, ['server'], 2).length > 0,
  )
  if (misspelt !== undefined) {
    throw new UsageError(`${file}: unknown export "${misspelt}"; did you mean "server"?`)
  }
  if (!('default' in exported)) {
    throw new UsageError(`${file} has no default export; export ${EXPECTED}`)
  }
  const { default: main, server = {} } = exported
  const handler = handlerIn(main)
  const isOptions = typeof main === 'object' && main !== null && !(main instanceof Promise)
  if (!handler && (!isOptions || Array.isArray(main))) {
    throw new UsageError(`the default export of ${file} must be ${EXPECTED}, got ${describe(main)}`)
  }
  const options: RatesHandlerOptions | undefined = handler ? undefined : Object(main)
  withUsageError(file, () => assertServerOptions(server))
  return { file, options, handler, server }
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
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const lines = places.flatMap((place) => {
    const [, after = ''] = stack.split(place, 2)
    return /^:\d+/.exec(after) ?? []
  })
  return lines[0] ?? ''
}

function reasonOf(error: unknown): string {
  const { code }: { code?: unknown } = Object(error)
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && platform === 'node') {
    return `TypeScript needs Node 22.18 or newer, got ${process.versions.node}; use a .mjs file`
  }
  const lines = messageOf(error)
    .split('\n')
    .map((line) => line.trim())
  const reason = toSingleLine(lines.filter((line) => line !== '').join('; '))
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
  return Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`
}

/** @throws {TypeError} that names the invalid option */
function assertServerOptions(server: ServerOptions): void {
  const known = { tls: true, metrics: true, accessLog: true, compress: true }
  assertKnownOptions(server, known, 'server')
  const { tls: _, accessLog, ...flags } = server
  if (typeof accessLog !== 'object' || accessLog === null) {
    return assertFlags('server', { ...flags, accessLog })
  }
  assertKnownOptions(accessLog, { clients: true }, 'server.accessLog')
  assertFlags('server.accessLog', accessLog)
  return assertFlags('server', flags)
}

function assertFlags(owner: string, flags: object): void {
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined || typeof value === 'boolean') continue
    throw new TypeError(`${owner}.${name} must be true or false, got ${String(value)}`)
  }
}
