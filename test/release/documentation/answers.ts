import { isDeepStrictEqual } from 'node:util'

import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import type { Block } from './page.ts'

/** When the answers of the pages were given, in ms since the Unix epoch. */
const NOW = Date.UTC(2026, 10, 20, 18)

/** What stands for whatever is left out. */
const ELLIPSIS = '…'

/** What the synthetic market answers to `path`, once it has both kinds of rates. */
async function answerTo(path: string): Promise<Response> {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => NOW })
  await handler.refresh()
  return handler(new Request(`http://localhost${path}`))
}

/** The path of which a block shows the answer: the last one that the paragraph before it names. */
function pathOf({ lead }: Block): string | undefined {
  const spans = [...lead.matchAll(/`(?:GET )?(\/api\/[^`\s]*)`/g)]
  return spans.at(-1)?.[1]
}

/** What is wrong with the answer that a block of `json` or `csv` shows, or nothing. */
export async function faultOfAnswer(block: Block): Promise<string | undefined> {
  const path = pathOf(block)
  if (path === undefined) return 'the paragraph before it names no path that it could be asked for'
  const response = await answerTo(path)
  const answer = await response.text()
  const isShown =
    block.language === 'json'
      ? isPartOf(JSON.parse(block.text), JSON.parse(answer))
      : areRowsOf(block.text, answer)
  return isShown ? undefined : `${path} answers ${response.status} ${answer.slice(0, 2_000)}`
}

/** The paths that a block of `text` has, one a line, or one of `diff` in the lines that it adds. */
function pathsIn({ language, text }: Block): string[] {
  const lines = text.trim().split('\n')
  if (language === 'text') return lines
  const added = lines.filter((line) => line.startsWith('+'))
  return added.flatMap((line) => line.match(/(?<=')\/api\/[^']+/g) ?? [])
}

/** Those of them that are not answered with 200; throws where there is none. */
export async function refusedPaths(block: Block): Promise<string[]> {
  const paths = pathsIn(block)
  if (paths.length === 0) throw new Error('it has no path that could be asked for')
  const answers = await Promise.all(
    paths.map(async (path) => [path, (await answerTo(path)).status] as const),
  )
  return answers.filter(([, status]) => status !== 200).map(([path]) => path)
}

/** Whether `shown` is the answer, or a record somewhere in it. */
function isPartOf(shown: unknown, answer: unknown): boolean {
  if (agrees(shown, answer)) return true
  return isRecord(answer) && Object.values(answer).some((part) => isPartOf(shown, part))
}

/** Whether `shown` is `answer`, but for what it leaves out: beside a field `…` there may be others. */
function agrees(shown: unknown, answer: unknown): boolean {
  if (!isRecord(shown) || !isRecord(answer)) return isDeepStrictEqual(shown, answer)
  const { [ELLIPSIS]: ellipsis, ...fields } = shown
  const isWhole = Object.keys(fields).length === Object.keys(answer).length
  if (ellipsis === undefined && !isWhole) return false
  return Object.entries(fields).every(([name, value]) => agrees(value, answer[name]))
}

/** Whether `shown` is the rows of `answer`, or the first of them with `…` behind. */
function areRowsOf(shown: string, answer: string): boolean {
  const rows = answer.replaceAll('\r\n', '\n')
  const [first = '', rest] = shown.split(`${ELLIPSIS}\n`)
  return rest === undefined ? rows === shown : rows.startsWith(first)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
