import { isDeepStrictEqual } from 'node:util'

import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import type { Block } from './page.ts'

/** The time of all responses on the pages. */
const NOW = Date.UTC(2026, 10, 20, 18)

/** Marks left-out fields and rows. */
const ELLIPSIS = '…'

/** Returns the response to `path` with synthetic rates of both kinds in the cache. */
async function request(path: string): Promise<Response> {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => NOW })
  await handler.refresh()
  return handler(new Request(`http://localhost${path}`))
}

/** Resolves with the fault of a block of `json` or `csv`, if any: it must show the response to the last path in its lead. */
export async function faultOfAnswer({ lead, language, text }: Block): Promise<string | undefined> {
  const path = [...lead.matchAll(/`(?:GET )?(\/api\/[^`\s]*)`/g)].at(-1)?.[1]
  if (path === undefined) return 'the paragraph before it has no path'
  const response = await request(path)
  const body = await response.text()
  const isShown =
    language === 'json'
      ? isPartOf(JSON.parse(text), JSON.parse(body))
      : areRowsOf(text, body.replaceAll('\r\n', '\n'))
  return isShown ? undefined : `${path} returns ${response.status} ${body.slice(0, 2_000)}`
}

/** Resolves with the paths of a block that do not return 200: lines of `text`, or added lines of `diff`. */
export async function refusedPaths({ language, text }: Block): Promise<string[]> {
  const lines = text.trim().split('\n')
  const added = lines.filter((line) => line.startsWith('+'))
  const inDiff = added.flatMap((line) => line.match(/(?<=')\/api\/[^']+/g) ?? [])
  const paths = language === 'text' ? lines : inDiff
  if (paths.length === 0) throw new Error('the block has no path')
  const statuses = await Promise.all(paths.map(async (path) => (await request(path)).status))
  return paths.filter((_, index) => statuses[index] !== 200)
}

/** Returns whether `shown` is the body, or an object anywhere in it. */
function isPartOf(shown: unknown, body: unknown): boolean {
  if (agrees(shown, body)) return true
  return isObject(body) && Object.values(body).some((part) => isPartOf(shown, part))
}

/** Returns whether both are equal; an object with a field `…` may omit others. */
function agrees(shown: unknown, body: unknown): boolean {
  if (!isObject(shown) || !isObject(body)) return isDeepStrictEqual(shown, body)
  const { [ELLIPSIS]: ellipsis, ...fields } = shown
  const isWhole = Object.keys(fields).length === Object.keys(body).length
  if (ellipsis === undefined && !isWhole) return false
  return Object.entries(fields).every(([name, value]) => agrees(value, body[name]))
}

/** Returns whether `shown` is all rows, or the first ones followed by `…`. */
function areRowsOf(shown: string, rows: string): boolean {
  const [first = '', rest] = shown.split(`${ELLIPSIS}\n`)
  return rest === undefined ? rows === shown : rows.startsWith(first)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
