import { readFileSync, readdirSync } from 'node:fs'

import { NBP_TABLES } from '../src/providers/banks/nbp.ts'
import type { Bank } from '../src/upstream/bank-days.ts'
import type { BankFactory } from '../src/upstream/bank.ts'

const FOLDER = new URL('../src/providers/banks/', import.meta.url)

/** A bank of a file, with what its docblock says besides the name of the rates. */
interface Listed {
  bank: Bank
  notes: string
}

async function banksOf(file: string): Promise<Listed[]> {
  const members: Record<string, unknown> = await import(new URL(file, FOLDER).href)
  const tables: object = file === 'nbp.ts' ? NBP_TABLES : {}
  const factories = [...Object.values(members), ...Object.values(tables)]
  const banks = factories.flatMap((each) => (isBankFactory(each) ? each.bank : []))
  if (banks.length === 0) throw new Error(`${file} has no bank`)
  const notes = notesIn(readFileSync(new URL(file, FOLDER), 'utf8'))
  return banks.map((bank, index) => ({ bank, notes: index === 0 ? notes : '' }))
}

function isBankFactory(member: unknown): member is BankFactory {
  return typeof member === 'function' && 'bank' in member
}

/** Returns the docblock of the factory, without its first sentence and its tags. */
function notesIn(source: string): string {
  const [, block = ''] =
    /\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport (?:const|function) create/.exec(source) ?? []
  const [text = ''] = block.replaceAll(/\n \* ?/g, ' ').split(' @')
  if (!/^ *Creates a provider of [^]*\./.test(text)) throw new Error('a factory has no docblock')
  return text.replace(/^ *Creates a provider of .*?\.(?: |$)/, '').trim()
}

const WEEKDAYS = 'Mondays Tuesdays Wednesdays Thursdays Fridays'.split(' ')

const DATED: ReadonlyMap<string, string> = new Map([
  ['effect', ', for the next day'],
  ['next-working-day', ', for the next working day'],
])

/** Returns when rates are published, such as `16:00 Oslo`. */
function publishedBy({ publication }: Bank): string {
  const { frequency = 'daily', weekday = 5, time, timeZone, dated, delayDays = 0 } = publication
  const place = timeZone.replace(/^.*\//, '').replaceAll('_', ' ')
  if (frequency === 'monthly') return 'dated the first of the month'
  if (frequency === 'quarterly') return `dated its last day, ${delayDays} days later`
  const released = WEEKDAYS[(weekday + delayDays - 1) % 7] ?? 'Mondays'
  const day = frequency === 'weekly' ? `, ${released}` : ''
  const later = frequency === 'daily' && delayDays === 1 ? ', a working day later' : ''
  return `${time} ${place}${day}${later}${DATED.get(dated ?? '') ?? ''}`
}

const RANGE = { start: '2024-02-01', end: '2024-02-01' }

/** Returns what one request has, such as `up to 366 days`. */
function requestOf({ maxDays = Infinity, spansOf, series, requests }: Bank): string {
  if (!requests) return 'any days of one currency'
  const [{ start, end } = RANGE] = spansOf?.(RANGE, maxDays) ?? []
  const days = (Date.parse(end) - Date.parse(start)) / 86_400_000
  if (days > 1_000) return 'all days'
  if (days === 365) return 'a calendar year'
  if (days === 28) return 'a calendar month'
  if (maxDays === 1) return `a day${series ? ', or all days of one currency' : ''}`
  return maxDays === Infinity ? 'any days' : `up to ${maxDays + days} days`
}

/** Returns the requests for the table of a day. */
function callsOf({ requests, extras, codes = [] }: Bank): number {
  const tables = requests?.(RANGE, 'key').length ?? codes.length
  return tables + (extras?.(RANGE).length ?? 0)
}

function table(header: string[], rows: string[][]): string {
  const all = [header, header.map(() => ''), ...rows]
  const widths = header.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  )
  const lines = all.map((row, index) => {
    const cells = widths.map((width, column) =>
      (row[column] ?? '').padEnd(width, index === 1 ? '-' : ' '),
    )
    return `| ${cells.join(' | ')} |`
  })
  return lines.join('\n')
}

/** Returns the page on central banks with the tables and notes of `src/providers/banks`. */
export async function withBanks(page: string): Promise<string> {
  const listed = (await Promise.all(readdirSync(FOLDER).toSorted().map(banksOf))).flat()
  const nameOf = ({ name, page: link }: Bank): string => `[${name}](${link})`
  const rows = listed.map(({ bank }) => [
    nameOf(bank),
    `\`${bank.publication.id}\``,
    bank.base,
    String(bank.currencies),
    publishedBy(bank),
    bank.publication.since,
    bank.keyIn === undefined ? '–' : `in ${bank.keyIn === 'query' ? 'the query' : 'a header'}`,
    bank.terms === undefined ? 'not known' : `[terms](${bank.terms})`,
  ])
  const forms = Map.groupBy(listed, ({ bank }) => `${requestOf(bank)}|${callsOf(bank)}`)
  const requests = [...forms].map(([form, banks]) => [
    banks.map(({ bank }) => `\`${bank.publication.id}\``).join(', '),
    ...form.split('|'),
  ])
  const notes = listed.filter((each) => each.notes !== '')
  const parts = {
    banks: table('bank,id,base,currencies (about),published,since,key,terms'.split(','), rows),
    requests: table(['id', 'one request has', 'requests for a table'], requests),
    notes: notes
      .map(({ bank, notes: text }) => `- **${bank.name.replace(/, table A$/, '')}:** ${text}`)
      .join('\n'),
  }
  return Object.entries(parts).reduce((text, [name, part]) => {
    const place = new RegExp(`(<!-- ${name}: generated[^]*?-->\n)[^]*?(\n<!-- end -->)`)
    if (!place.test(text)) throw new Error(`the page has no place for ${name}`)
    return text.replace(place, (_, before, after) => `${before}\n${part}\n${after}`)
  }, page)
}
