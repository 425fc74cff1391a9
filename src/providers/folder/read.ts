import * as z from 'zod/mini'

import { isDay } from '../../rates/dates.ts'
import type { Day } from '../../rates/dates.ts'
import { pathsOf } from '../../upstream/feed.ts'
import type { ProviderContext } from '../../upstream/provider.ts'
import { UpstreamError, readBytes, requireBody } from '../../upstream/request.ts'

type Bytes = ReturnType<typeof Uint8Array.of>

const MAX_DETAILS = 5

const MIB = 1024 * 1024
const MAX_JSON_BYTES = MIB
/** A year of all sources has about 2 MB. */
const MAX_DAYS_BYTES = 16 * MIB

/** No other path is ever opened. */
const NAME =
  /^(?:(?:latest|currencies|sources)\.([\da-f]{8})\.json|days\/\d{4}\.([\da-f]{8})\.(?:ndjson|csv))$/

interface ListedFile {
  name: string
  size: number
  sha256: string
}

function isListedFile(file: unknown): boolean {
  const { name, size, sha256 } = Object(file)
  if (typeof name !== 'string' || typeof sha256 !== 'string') return false
  const [, ofJson, digits = ofJson] = NAME.exec(name) ?? []
  const max = ofJson === undefined ? MAX_DAYS_BYTES : MAX_JSON_BYTES
  const isSize = Number.isInteger(size) && size >= 0 && size <= max
  return isSize && /^[\da-f]{64}$/.test(sha256) && sha256.slice(0, 8) === digits
}

// Without methods of schemas, which bundlers would keep for every other provider.
const index = z.object({
  version: z.literal(1),
  since: z.custom<Day>((since) => typeof since === 'string' && isDay(since)),
  files: z.array(z.custom<ListedFile>(isListedFile)),
})

/** A folder as its `index.json` lists it. */
export interface Folder {
  /** The years with days. */
  years: { first: number; last: number }
  /**
   * Reads a file by its name without digits, such as `days/2026.ndjson`, and checks its size and its digest.
   *
   * @throws {UpstreamError} naming the file and the reason, also that of `use`
   */
  read<Result>(name: string, use: (bytes: Bytes) => Result | Promise<Result>): Promise<Result>
}

/** Static hosts return 403 where they may not list their files. */
const MISSING: readonly unknown[] = [403, 404, 410, 'ENOENT']

function isMissing(error: unknown): boolean {
  const { status, code } = Object(error)
  return MISSING.includes(status ?? code)
}

/** Calls `use` with the folder at `root`, and again with its new index if a listed file is missing. */
export async function readFolder<Result>(
  root: string,
  context: ProviderContext,
  use: (folder: Folder) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(await openFolder(root, context))
  } catch (error) {
    const { status, cause } = Object(error)
    if (status !== undefined || !isMissing(cause)) throw error
    return use(await openFolder(root, context))
  }
}

async function openFolder(root: string, context: ProviderContext): Promise<Folder> {
  const place = new URL(root).host || 'the folder'

  async function readPath<Result>(
    path: string,
    maxBytes: number,
    use: (bytes: Bytes) => Result | Promise<Result>,
  ): Promise<Result> {
    try {
      return await use(await bytesOf(`${root}/${path}`, maxBytes, context))
    } catch (error) {
      const { message, code, status, retryAfterMs } = Object(error)
      // Messages of file systems have paths.
      const text = `${place} has no usable ${path}: ${typeof code === 'string' ? code : message}`
      // Without the status of a service that has moved.
      const isListed = path !== 'index.json' && isMissing(error)
      throw new UpstreamError(text, { ...(!isListed && { status, retryAfterMs }), cause: error })
    }
  }

  const { since, files } = await readPath('index.json', MAX_JSON_BYTES, (bytes) =>
    parseAs(index, bytes),
  )
  const byName = new Map(files.map((file) => [file.name.replace(/\.\w+/, ''), file]))
  const first = Number(since.slice(0, 4))
  const years = [...byName.keys()].map((name) => Number(/^days\/(\d{4})/.exec(name)?.[1] ?? first))
  const folder: Folder = {
    years: { first, last: Math.max(first, ...years) },
    async read(name, use) {
      const { name: path, size, sha256 } = requireListed(name)
      return readPath(path, size, async (bytes) => {
        if (bytes.length !== size) throw new Error(`expected ${size} bytes, got ${bytes.length}`)
        if ((await digestOf(bytes)) !== sha256) throw new Error('expected another SHA-256')
        return use(bytes)
      })
    },
  }

  function requireListed(name: string): (typeof files)[number] {
    const file = byName.get(name)
    if (file) return file
    throw new UpstreamError(`${place} has no usable index.json: ${name} is not listed`)
  }

  if (byName.size < files.length)
    throw new UpstreamError(`${place} has no usable index.json: a file is listed twice`)
  for (let year = first; year <= folder.years.last; year += 1) requireListed(`days/${year}.ndjson`)
  return folder
}

async function bytesOf(url: string, maxBytes: number, context: ProviderContext): Promise<Bytes> {
  const { protocol, host } = new URL(url)
  if (protocol === 'file:') return readDisk(new URL(url), maxBytes, context.signal)
  const { fetch, signal, now } = context
  const request = { fetch, signal, now, url, maxBytes, redirectHosts: [host] }
  return requireBody(await readBytes(request, 'application/json, application/x-ndjson'))
}

/** The part of `node:fs/promises` that is used; the types of Node are not those of all runtimes. */
interface FileSystem {
  open(url: URL): Promise<{
    stat(): Promise<{ size: number }>
    read(into: Bytes, offset: number, length: number, from: number): Promise<{ bytesRead: number }>
    close(): Promise<void>
  }>
}

/** An `import()` of `node:fs/promises` would stop the bundlers for browsers. */
const host: { getBuiltinModule?(name: string): FileSystem } | undefined =
  /* @__PURE__ */ Reflect.get(globalThis, 'process')

async function readDisk(url: URL, maxBytes: number, signal: AbortSignal): Promise<Bytes> {
  const fs = host?.getBuiltinModule?.('node:fs/promises')
  if (!fs) throw new Error('this runtime cannot read files')
  signal.throwIfAborted()
  const file = await fs.open(url)
  try {
    const { size } = await file.stat()
    if (size > maxBytes) throw new Error(`more than ${maxBytes} bytes`)
    const bytes = new Uint8Array(size)
    const { bytesRead } = await file.read(bytes, 0, size, 0)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function digestOf(bytes: Bytes): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-256', bytes)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true })

/** @throws {Error} that begins with `where` and does not quote the text */
export function parseAs<Output>(
  schema: z.ZodMiniType<Output>,
  bytes: Bytes,
  where = 'it ',
): Output {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch (cause) {
    throw new Error(`${where}is not JSON`, { cause })
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const paths = pathsOf(parsed.error).slice(0, MAX_DETAILS).join(', ')
  throw new Error(`${where}has an unexpected format: ${paths}`)
}
