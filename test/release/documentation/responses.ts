import { isDeepStrictEqual } from 'node:util'

import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import type { Block } from './page.ts'

/** The time of all answers on the pages. */
const NOW = Date.UTC(2026, 10, 20, 18)

/** Marks left-out fields and rows. */
const ELLIPSIS = '…'

/** Returns the response to `path` with synthetic rates of both kinds in the cache. */
async function request(path: string): Promise<Response> {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => NOW })
  await handler.refresh()
  return handler(new Request(`http://localhost${path}`))
}

/** Resolves with the difference between a block of `json` or `csv` and the answer to the last path in its lead, if any. */
export async function faultOfAnswer({ lead, language, text }: Block): Promise<string | undefined> {
  const path = [...lead.matchAll(/`(?:GET )?(\/api\/[^`\s]*)`/g)].at(-1)?.[1]
  if (path === undefined) return 'the paragraph before it names no path'
  const response = await request(path)
  const answer = await response.text()
  const isShown =
    language === 'json'
      ? isPartOf(JSON.parse(text), JSON.parse(answer))
      : areRowsOf(text, answer.replaceAll('\r\n', '\n'))
  return isShown ? undefined : `${path} answers ${response.status} ${answer.slice(0, 2_000)}`
}

/** Resolves with the paths of a block that are not answered with 200: lines of `text`, or added lines of `diff`. */
export async function refusedPaths({ language, text }: Block): Promise<string[]> {
  const lines = text.trim().split('\n')
  const added = lines.filter((line) => line.startsWith('+'))
  const inDiff = added.flatMap((line) => line.match(/(?<=')\/api\/[^']+/g) ?? [])
  const paths = language === 'text' ? lines : inDiff
  if (paths.length === 0) throw new Error('the block has no path')
  const statuses = await Promise.all(paths.map(async (path) => (await request(path)).status))
  return paths.filter((_, index) => statuses[index] !== 200)
}

/** Returns whether `shown` is the answer, or an object anywhere in it. */
function isPartOf(shown: unknown, answer: unknown): boolean {
  if (agrees(shown, answer)) return true
  return isObject(answer) && Object.values(answer).some((part) => isPartOf(shown, part))
}

/** Returns whether both are equal; an object with a field `…` may leave out others. */
function agrees(shown: unknown, answer: unknown): boolean {
  if (!isObject(shown) || !isObject(answer)) return isDeepStrictEqual(shown, answer)
  const { [ELLIPSIS]: ellipsis, ...fields } = shown
  const isWhole = Object.keys(fields).length === Object.keys(answer).length
  if (ellipsis === undefined && !isWhole) return false
  return Object.entries(fields).every(([name, value]) => agrees(value, answer[name]))
}

/** Returns whether `shown` is all rows, or the first ones followed by `…`. */
function areRowsOf(shown: string, rows: string): boolean {
  const [first = '', rest] = shown.split(`${ELLIPSIS}\n`)
  return rest === undefined ? rows === shown : rows.startsWith(first)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
