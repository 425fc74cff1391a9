import { existsSync, readFileSync } from 'node:fs'

import { providerRows } from '../src/cli/provider-table.ts'
import { loadProviders } from '../src/cli/providers.ts'
import type { NamedProvider } from '../src/cli/providers.ts'
import * as factories from '../src/providers/index.ts'
import { NBP_TABLES } from '../src/providers/banks/nbp.ts'
import type { Bank } from '../src/upstream/bank-days.ts'

const FOLDER = new URL('../src/providers/', import.meta.url)

/** Days of the recorded responses that tests read, and what is not yet seen working. */
const SEEN: Readonly<Record<string, string>> = {
  'banca-d-italia': 'Seen 2026-02-12, without the series of one currency',
  'bank-of-canada': 'Seen 2026-03-19',
  'bank-of-england': 'Seen 2026-03-31',
  'bank-of-israel': 'Not yet seen: that of 2026-03-20 is probably edited',
  banxico: 'Seen 2026-03-31',
  bcb: 'Seen 2026-03-31, seven currencies',
  bnr: 'Seen 2026-08-19',
  cbr: 'Seen 2026-04-26, without tables of chosen days',
  cnb: 'Seen 2026-04-02',
  'danmarks-nationalbank': 'Seen 2026-04-04',
  ecb: 'Seen 2026-04-13',
  fbil: 'Seen 2026-03-21, perhaps edited',
  fred: 'Seen 2026-03-19, 15 series',
  hmrc: 'Not yet seen',
  imf: 'Seen 2026-05-05, without `XDR`',
  mnb: 'Seen 2026-04-08',
  nbp: 'Seen 2026-04-26',
  nbu: 'Seen 2026-03-17',
  'norges-bank': 'Seen 2026-03-30',
  rba: 'Seen 2026-03-22',
  riksbank: 'Seen 2026-03-30',
  tcmb: 'Seen 2026-03-22',
  'us-treasury': 'Not yet seen',
}

const WEEKDAYS = 'Mondays Tuesdays Wednesdays Thursdays Fridays'.split(' ')

const DATED: ReadonlyMap<string, string> = new Map([
  ['effect', ' for the next day'],
  ['next-working-day', ' for the next working day'],
])

/** Returns the page on providers with a card for each one, between the two comments. */
export async function withCards(page: string): Promise<string> {
  const rows = new Map((await providerRows()).map((row) => [row[0]?.replace(' *', ''), row]))
  const cards = (await loadProviders()).map((each) => cardOf(each, rows.get(each.name) ?? []))
  const place = /(<!-- cards: generated[^]*?-->\n)[^]*?(\n<!-- end -->)/
  if (!place.test(page)) throw new Error('the page has no place for cards')
  return page.replace(place, (_, before, after) => `${before}\n${cards.join('\n\n')}\n${after}`)
}

function cardOf({ name, keyVariable }: NamedProvider, row: readonly string[]): string {
  const [, country = '-', , data = '', , right = ''] = row
  const word = name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const factory = `create${word}Provider`
  const create: unknown = Object.entries(factories).find(([each]) => each === factory)?.[1]
  const bank: Bank | undefined = name === 'nbp' ? NBP_TABLES.A.bank : Object(create).bank
  const keys = { ...(keyVariable && { key: 'k' }), ...(name === 'folder' && { url: 'file:///' }) }
  const { attribution, terms } = Object(create)(keys)
  const facts = [
    ...(bank ? factsOf(bank) : []),
    ...(data === 'both' ? [] : [`${data} only`]),
    ...(keyVariable ? [`key \`${keyVariable}\``] : []),
  ]
  const of = [
    ...(/^\p{Lu}/u.test(country) ? [country] : []),
    `[${attribution.name.replace(/ \((?!via|FBIL)[^)]*\)$/, '')}](${attribution.url})`,
    `\`${factory}()\``,
  ]
  const passedOn = `pass on: ${terms ? `[${right}](${terms})` : right}`
  const texts = [facts.join(', '), passedOn, notesOf(name).replace(/\.$/, ''), SEEN[name] ?? '']
  const sentences = texts.filter(Boolean).map((text) => `${capitalised(text)}.`)
  return `## ${name}\n\n${of.join(', ')}\n\n${sentences.join(' ')}`
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function factsOf({ base, currencies, publication }: Bank): string[] {
  const { frequency = 'daily', weekday = 5, time, timeZone, dated, delayDays = 0 } = publication
  const place = timeZone.replace(/^.*\//, '').replaceAll('_', ' ')
  const released = WEEKDAYS[(weekday + delayDays - 1) % 7] ?? 'Mondays'
  const day = frequency === 'weekly' ? `${released} ` : ''
  const later = frequency === 'daily' && delayDays === 1 ? ' a working day later' : ''
  const hours: Readonly<Record<string, string>> = {
    monthly: 'monthly, dated its first day',
    quarterly: `quarterly, dated its last day, after ${delayDays} days`,
  }
  const daily = `${day}${time} ${place}${later}${DATED.get(dated ?? '') ?? ''}`
  const when = hours[frequency] ?? daily
  return [base, `${currencies} currencies`, when, `since ${publication.since}`]
}

/** Returns the docblock of the factory, without its start, its tags, and what the card has from data. */
function notesOf(name: string): string {
  const files = [`banks/${name}.ts`, `${name}.ts`].map((file) => new URL(file, FOLDER))
  const [file] = files.filter((each) => existsSync(each))
  const source = file ? readFileSync(file, 'utf8') : ''
  const [, block = ''] =
    /\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport (?:const|function) create/.exec(source) ?? []
  const [text = ''] = block.replaceAll(/\n \* ?/g, ' ').split(' @')
  if (!/^ *Creates a provider [^]*\./.test(text)) throw new Error(`${name} has no docblock`)
  return text
    .replace(/^ *Creates a provider .*?[.:](?: |$)/, '')
    .replace(/Needs (?:no key|an API key|an App ID)\. ?/, '')
    .trim()
}
