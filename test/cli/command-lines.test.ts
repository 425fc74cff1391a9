import { readFileSync } from 'node:fs'

import { expect, it, onTestFinished, vi } from 'vitest'

import { publish, run } from './run.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Command lines with what they print; the top of the table has its form. */
const BLOCKS = readFileSync(new URL('command-lines.txt', import.meta.url), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .split(/^(?=\$ )/m)
  .map((block) => block.trimEnd())

const SOURCES = {
  latest: 'Rates By Exchange Rate API, https://www.exchangerate-api.com',
  ecb: 'European Central Bank (via Frankfurter), https://frankfurter.dev',
  demo: 'Synthetic rates (ratesmith), https://www.npmjs.com/package/ratesmith',
}
const DISCLAIMER = 'For information only, not an offer to exchange currency.'

/** Shown by commands that take long on a busy machine. */
const SPINNER = /\\r(?:[-\\|/] [a-z ]+|\\e\[K)/g

function abridged(text: string): string {
  return Object.entries(SOURCES)
    .reduce((left, [name, source]) => left.replace(`${source}\n${DISCLAIMER}`, `(${name})`), text)
    .replaceAll(version, 'VERSION')
    .replaceAll(/(?:Node|Bun|Deno) [\d.]+,/g, 'RUNTIME,')
    .replaceAll('\t', '\\t')
    .replaceAll('\r', '\\r')
    .replaceAll('\u001B', '\\e')
    .trimEnd()
}

const unescaped = (text: string): string => JSON.parse(`"${text.replaceAll('"', '\\"')}"`)

/** Splits `NAME=value printf 'text' | command 'two words'`. */
function parse(typed: string) {
  const [, variables = '', sent = '', line = ''] =
    /^((?:[A-Z_]+=\S* )*)(?:printf '(.*?)' \| )?(.*)$/.exec(typed) ?? []
  const words = line.match(/(?:'[^']*'|[^\s'])+/g) ?? []
  const entries = [...variables.matchAll(/([A-Z_]+)=(\S*) /g)]
  const given = Object.fromEntries(entries.map(([, name, value = '']) => [name, unescaped(value)]))
  return {
    stdin: unescaped(sent),
    args: words.map((word) => unescaped(word.replaceAll("'", ''))),
    given,
  }
}

async function* streamOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

const clockAt = (time: string | undefined) =>
  time === undefined ? {} : { now: () => Date.parse(time) }

async function printed(typed: string): Promise<string> {
  const { stdin, args, given } = parse(typed)
  const { COLUMNS, NOW, UPSTREAM_AT = NOW, ...env } = given
  // The backoff after a failure.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.1)
  onTestFinished(() => random.mockRestore())
  const terminal = COLUMNS === undefined ? {} : { columns: Number(COLUMNS) }
  const { code, stdout, stderr } = await run(args, {
    ...clockAt(NOW),
    ...(UPSTREAM_AT !== 'never' && { fetch: publish(clockAt(UPSTREAM_AT)) }),
    ...terminal,
    stdin: streamOf(stdin),
    env: COLUMNS === undefined ? env : { LANG: 'C.UTF-8', NO_COLOR: '1', ...env },
  })
  const notes = abridged(stderr).replaceAll(SPINNER, '').replaceAll('\n', ' | ')
  const state = code === 0 && notes === '' ? '' : ` ~${code || ''} ${notes}`.trimEnd()
  const lines = abridged(stdout)
  if (COLUMNS !== undefined && lines.includes('\n')) return `${state}\n${lines}`
  return ` =>${lines === '' ? '' : ' '}${lines.replaceAll('\n', ' | ')}${state}`
}

it.each(BLOCKS.slice(1))('%s', async (block) => {
  const [, typed = ''] = /^\$ (.*?)(?= =>| ~|$)/m.exec(block) ?? []
  expect(`$ ${typed}${await printed(typed)}`).toBe(block)
})
