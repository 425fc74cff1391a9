// What is asked, of which world, through which doors. A question never depends on another scene.
import { readFileSync } from 'node:fs'

import { expand as longer } from '../catalogue/expand.ts'
import type { Question } from './doors.ts'
import { KEYS } from './worlds.ts'
import type { WorldOptions } from './worlds.ts'

export interface Scene {
  name: string
  world: WorldOptions
  /** Names of doors; each has its own world. */
  doors: readonly string[]
  questions: readonly Question[]
  /** Targets that are requested before, so that every question finds the same data loaded. */
  warm: readonly string[]
  /** Whether the questions are asked in order, because each changes the world. */
  isSequence?: boolean
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** A Friday evening in winter, after all publications. */
const FRIDAY = '2026-11-20T18:00:00Z'
const HOUR = 3_600_000
const later = (hours: number): string => new Date(Date.parse(FRIDAY) + hours * HOUR).toISOString()

const [, ...SECTIONS] = read('questions.txt').split('\n[')
const NAMES = [...read('questions.txt').matchAll(/^(\$[A-Z]+) (.*)$/gm)]

/** Returns the lines of `questions.txt` below the name that starts with `start`, as they are. */
function linesOf(start: string): string[] {
  const section = SECTIONS.find((each) => each.startsWith(start)) ?? ''
  return section.trimEnd().split('\n').slice(1)
}

/** Returns the texts of a line: one for each choice of alternatives. */
function expand(line: string): string[] {
  const full = NAMES.reduce((text, [, name = '', value = '']) => text.replaceAll(name, value), line)
  const [whole, before = '', inside = '', after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(full) ?? []
  if (whole === undefined) return [full]
  return inside.split('|').flatMap((each) => expand(`${before}${each}${after}`))
}

const textsOf = (start: string): string[] => linesOf(start).flatMap(expand)
const gets = (...targets: string[]): Question[] => targets.map((target) => ({ target }))
const getsOf = (start: string): Question[] => gets(...textsOf(start))
const every = (step: number, questions: readonly Question[]): Question[] =>
  questions.filter((_, index) => index % step === 0)

const [LOADED, EVERYTHING] = [textsOf('loaded'), getsOf('everything')]
const ENDPOINTS = linesOf('endpoints').map((line) => expand(line).join().split(' '))
const VALUES = new Map(
  linesOf('values of parameters').map((line) => {
    const [name = '', ...values] = line.split(' ')
    return [name, values.map((value) => (value === '_' ? '' : encodeURIComponent(value)))]
  }),
)

function catalogue(): Question[] {
  const entries: Question[] = JSON.parse(read('../catalogue/bad-inputs.json'))
  return entries.map(({ method = 'GET', target = '', headers = {} }) => {
    const sent = Object.entries(headers).map(([name, value]) => [name, longer(value)])
    return { method, target: longer(target), headers: Object.fromEntries(sent) }
  })
}

/** Queries of each endpoint: one parameter with every value, and every two with the first ones. */
function parameters(): Question[] {
  return ENDPOINTS.flatMap(([endpoint = '', ...names]) => {
    const [path = '', fixed] = endpoint.split('?')
    const query = (given: Record<string, string>): string => {
      const all = { ...Object.fromEntries(new URLSearchParams(fixed)), ...given }
      const pairs = Object.entries(all).map(([name, value]) => `${name}=${value}`)
      return `${path}?${pairs.join('&')}`
    }
    const single = names.flatMap((name) =>
      (VALUES.get(name) ?? []).map((value) => query({ [name]: value })),
    )
    const double = names.flatMap((one, index) =>
      names.slice(index + 1).flatMap((other) => {
        const [firsts = [], seconds = []] = [VALUES.get(one), VALUES.get(other)]
        return firsts
          .slice(0, 2)
          .flatMap((first) =>
            seconds.slice(0, 3).map((second) => query({ [one]: first, [other]: second })),
          )
      }),
    )
    const others = textsOf('other names').map((name) => `${query({})}&${name}=USD`)
    const twice = names.slice(0, 1).map((name) => `${query({})}&${name}=EUR&${name}=EUR`)
    return gets(endpoint, ...single, ...double, ...others, ...twice)
  })
}

/** Bodies of `POST /v1/convert`. */
function rows(): Question[] {
  const post = (type: string, body: string, query = ''): Question => ({
    method: 'POST',
    target: `/api/v1/convert${query}`,
    headers: { 'Content-Type': type },
    body,
  })
  const json = 'application/json'
  const row = { from: 'USD', to: 'EUR' }
  const variants = linesOf('rows').map((line): object => ({ ...row, ...JSON.parse(line) }))
  const tables = linesOf('tables').map((line): string => JSON.parse(line))
  return [
    ...variants.map((each) => post(json, JSON.stringify([each]))),
    ...['', '?format=csv', '?from=USD'].map((query) => post(json, JSON.stringify(variants), query)),
    ...linesOf('other bodies').map((line) => post(json, JSON.parse(line))),
    ...tables.flatMap((body) => [post('text/csv', body), post('text/csv', body, '?format=json')]),
    ...linesOf('types of bodies').map((type) => post(type, tables[0] ?? '')),
    post(json, JSON.stringify(Array.from({ length: 10_001 }, () => row))),
    { method: 'POST', target: '/api/v1/convert', body: '[]' },
    { ...post(json, '[]'), headers: { 'Content-Type': json, 'Content-Encoding': 'gzip' } },
  ]
}

/** Methods, preconditions and origins, on every endpoint. */
function requests(): Question[] {
  const tags = (target: string): string[] => [`{{etag:${target}}}`, '"x"', '*', 'x']
  return ENDPOINTS.flatMap(([target = '']) => [
    ...'HEAD OPTIONS PUT DELETE PATCH POST'.split(' ').map((method) => ({ method, target })),
    ...tags(target).flatMap((tag) => [
      { target, headers: { 'If-None-Match': tag } },
      { target, headers: { 'If-None-Match': `"y", W/${tag}` } },
      { target, headers: { 'If-Match': tag } },
    ]),
    ...['https://shop.example', 'https://other.example'].flatMap((Origin) => {
      const asked = { Origin, 'Access-Control-Request-Method': 'GET' }
      return [
        { target, headers: { Origin } },
        { method: 'OPTIONS', target, headers: asked },
      ]
    }),
    { target, headers: { Accept: 'text/csv', 'Accept-Encoding': 'gzip', Range: 'bytes=0-9' } },
  ])
}

/** Returns questions, the first of them after `before`. */
function after(before: Question['before'], [first, ...others]: Question[]): Question[] {
  return first ? [{ ...first, before }, ...others] : []
}

/** What happens to loaded data while the upstreams fail, and afterwards. */
function outage(): Question[] {
  const hours = [1, 24, 25, 30, 72, 168, 216, 360, 720]
  return [
    ...getsOf('outage'),
    ...hours.flatMap((each) => after({ at: later(each), isUp: false }, getsOf('outage'))),
    ...after({ at: later(744), isUp: true, isRefreshed: true }, getsOf('outage')),
  ]
}

/** Feeds that send doubtful or broken data after good ones, day after day. */
function doubts(): Question[] {
  const edits: [RegExp, string][] = [
    [/"THB":[\d.]+/g, '"THB":32000'],
    [/"THB":[\d.]+/g, '"THB":32100'],
    [/"EUR":[\d.]+/g, '"EUR":1.9'],
    [/"GBP":[\d.]+,/g, ''],
    [/"(JPY|CHF)":[\d.]+/g, '"$1":-1'],
    [/.{40}$/g, ''],
    [/"AED":[\d.]+/g, '"AED":4.1'],
    [/^$/, ''],
  ]
  const days = edits.map(([from, to], day): Question['before'] => ({
    at: later(24 * (day + 1)),
    edit: (text) => text.replace(from, to),
    isRefreshed: true,
  }))
  return [...getsOf('doubts'), ...days.flatMap((day) => after(day, getsOf('doubts')))]
}

/** Requests with and without keys, up to the limits and after them. */
function keys(): Question[] {
  const small = { 'X-API-Key': KEYS.small }
  const targets = [...LOADED, ...ENDPOINTS.map(([each = '']) => each)]
  return [
    ...textsOf('keys').flatMap(parse),
    ...targets.map((target) => ({ target, headers: small })),
    ...every(30, rows()).map((each) => {
      return { ...each, headers: { ...each.headers, 'X-API-Key': KEYS.pro } }
    }),
    ...textsOf('limits of keys').flatMap(parse),
  ]
}

/** Returns the questions of a line such as `7 GET /target | X-API-Key: $pro | from 192.0.2.1 | at 2026-11-20T18:00:13Z`. */
function parse(line: string): Question[] {
  const [, count, method = '', target = '', rest = ''] = /^(\d+) (\w+) (\S+)(.*)$/.exec(line) ?? []
  const question: Question = { method, target: withKeys(target), headers: {} }
  for (const part of rest.split(' | ').slice(1)) {
    const [, name = '', value = ''] = /^(\S+) (.*)$/.exec(withKeys(part)) ?? []
    if (name === 'from') question.client = value
    else if (name === 'at') question.before = { at: value }
    else question.headers = { ...question.headers, [name.slice(0, -1)]: value }
  }
  return Array.from({ length: Number(count) }, () => question)
}

const withKeys = (text: string): string =>
  Object.entries(KEYS).reduce((all, [name, key]) => all.replaceAll(`$${name}`, key), text)

/** Currencies of banks, by the ids of their sources. */
const BANKS: Record<string, string> = Object.fromEntries(
  `nbp-a PLN, nbp-b PLN, cnb CZK, norges-bank NOK, riksbank SEK, bank-of-canada CAD, bnr RON, nbu UAH,
  bank-of-england GBP, mnb HUF, hmrc GBP, banca-d-italia EUR`
    .split(',')
    .map((each) => each.trim().split(' ')),
)

function ofBank(id: string): Question[] {
  return getsOf('of a bank').map(({ target = '' }) => {
    return { target: target.replace('BASE', BANKS[id] ?? '').replace('ID', id) }
  })
}

const DEFAULT: WorldOptions = { at: FRIDAY }
const SYNTHETIC: WorldOptions = { at: FRIDAY, latest: ['fake'], history: ['fake'] }

function scene(name: string, questions: readonly Question[], more: Partial<Scene> = {}): Scene {
  return { name, world: DEFAULT, doors: ['answer'], warm: LOADED, questions, ...more }
}

/** Everything, once, in worlds that differ in their providers. */
const WORLDS = Object.entries<Omit<WorldOptions, 'at'>>({
  synthetic: SYNTHETIC,
  'another synthetic': { latest: ['fake-7'], history: ['fake-7'] },
  'first fails': {
    latest: ['failing', 'exchange-rate-api'],
    history: ['failing', 'frankfurter'],
  },
  'second is not needed': {
    latest: ['fawazahmed0', 'exchange-rate-api'],
    history: ['ecb', 'frankfurter'],
  },
  'all fail': { latest: ['failing', 'failing'], history: ['failing'] },
  'nothing loads': { isUp: false },
  'restored from a store': { isRestored: true },
  'a bank, restored from a store': { isRestored: true, history: ['norges-bank'] },
  'no latest rates': { latest: false },
  'no history': { history: false },
  'from one bank': { latest: ['ecb'], history: ['ecb'] },
  v6: { latest: ['exchange-rate-api-v6'] },
  'Open Exchange Rates': { latest: ['open-exchange-rates'] },
  'latest of banks': { latest: ['norges-bank', 'nbp-a'] },
  pegged: { latest: ['pegged'], history: ['pegged'] },
  fixed: { latest: ['fixed-latest'], history: ['fixed'] },
  overlay: { history: ['overlay'] },
  'pegged overlay': { history: ['pegged-overlay', 'norges-bank'] },
  'no response cache': { options: { responseCacheBytes: 0 } },
}).map(([name, world]) =>
  scene(name, [...EVERYTHING, ...getsOf('derived')], { world: { at: FRIDAY, ...world } }),
)

const BANK_SCENES = Object.entries(BANKS).map(([id, base]) =>
  scene(`bank ${id}`, [...ofBank(id), ...every(3, EVERYTHING)], {
    world: { at: FRIDAY, history: ['ecb', id] },
    warm: [...LOADED, `/api/v1/history?from=USD&to=${base}&start=2026-01-01&source=${id}`],
    // It publishes tables of a day, each of which is loaded when it is first needed.
    isSequence: id === 'banca-d-italia',
  }),
)

const COMPAT_SCENES = SECTIONS.filter((each) => each.startsWith('compat')).map((section) => {
  const [, name = ''] = /^(compat [\w-]+)\]/.exec(section) ?? []
  const questions = getsOf(name)
  const [first] = questions
  const variants = ['HEAD', 'OPTIONS', 'POST'].map((method) => ({ ...first, method }))
  const tag = { ...first, headers: { 'If-None-Match': `{{etag:${first?.target}}}` } }
  const origin = { ...first, headers: { Origin: 'https://shop.example' } }
  return scene(name, [...questions, ...variants, tag, origin], {
    world: { at: FRIDAY, compat: name.slice('compat '.length), options: { basePath: '/own' } },
    doors: ['answer', 'node'],
    warm: LOADED.map((target) => target.replace('/api', '/own')),
  })
})

const MAJORS = 'USD EUR JPY GBP CHF CAD AUD NZD CNY SEK NOK PLN'.split(' ')
const PAIRS = MAJORS.flatMap((from) =>
  MAJORS.filter((to) => to !== from).map((to) => `from=${from}&to=${to}`),
)
const HOSTS = ['fetch', 'node', 'express']
const SEQUENCE: Partial<Scene> = { isSequence: true }

/** All scenes. */
export const SCENES: readonly Scene[] = [
  scene('catalogue', catalogue(), {
    world: SYNTHETIC,
    doors: ['fetch', 'answer', 'node', 'express'],
  }),
  scene(
    'pairs',
    PAIRS.flatMap((pair, index) =>
      gets(
        `/api/v1/convert?${pair}&amount=${(index * 7.31 + 0.995).toFixed(3)}`,
        `/api/v1/convert?${pair}&amount=${index}.5&reverse=true&round=minor&date=2026-0${(index % 9) + 1}-15`,
        ...expand(`/api/v1/history?${pair}&period=$PERIODS`),
      ),
    ),
  ),
  scene(
    'every currency',
    textsOf('currencies').flatMap((code) =>
      gets(`/api/v1/latest?base=${code}`, `/api/convert?from=${code}&to=CHF&amount=1.005`),
    ),
  ),
  scene('parameters', parameters()),
  scene('rules', getsOf('rules')),
  scene('histories', getsOf('histories')),
  scene('rows', rows(), { doors: HOSTS }),
  scene('requests', requests(), { doors: HOSTS }),
  scene(
    'calls',
    linesOf('calls').map((line) => ({ call: JSON.parse(`[${line}]`) })),
    { doors: ['rates', 'client'] },
  ),
  ...textsOf('clocks').map((at) => scene(`at ${at}`, EVERYTHING, { world: { at } })),
  ...WORLDS,
  ...BANK_SCENES,
  scene('several banks', [...ofBank('nbp-a'), ...ofBank('cnb'), ...EVERYTHING], {
    ...SEQUENCE,
    world: { at: FRIDAY, history: ['frankfurter', 'nbp-a', 'norges-bank', 'cnb'] },
  }),
  ...COMPAT_SCENES,
  ...(['all', 'off', ['https://shop.example']] as const).map((cors) =>
    scene(`cors ${String(cors)}`, requests(), { world: { ...DEFAULT, options: { cors } } }),
  ),
  scene('at the root', getsOf('at the root'), {
    world: { ...DEFAULT, options: { basePath: '', explorer: true } },
    doors: ['fetch'],
    warm: LOADED.map((target) => target.replace('/api', '')),
  }),
  scene('outage', outage(), SEQUENCE),
  scene('doubtful rates', doubts(), SEQUENCE),
  scene('doubtful rates, two providers', doubts(), {
    ...SEQUENCE,
    world: { at: FRIDAY, latest: ['exchange-rate-api', 'fawazahmed0'], history: ['ecb'] },
  }),
  scene('cold', EVERYTHING, { ...SEQUENCE, warm: [] }),
  scene('calls without upstreams', [{ call: ['latest'] }, { call: ['currencies'] }], {
    ...SEQUENCE,
    world: { ...DEFAULT, isUp: false },
    doors: ['rates', 'client'],
  }),
  scene('keys', keys(), { ...SEQUENCE, warm: [], world: { ...DEFAULT, hasAccess: true } }),
]
