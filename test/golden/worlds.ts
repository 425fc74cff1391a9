// How the worlds of the questions are built from a work tree. What a tree names or mounts differently is found here, and nowhere else.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import type {
  HistoryProvider,
  LatestProvider,
  RatesHandler,
  RatesHandlerOptions,
  Routes,
} from '../../src/index.ts'
import type { Access } from '../../src/access/index.ts'

/** The public entry points of a work tree, loaded from their sources. */
export interface Tree {
  root: string
  /**
   * Calls the function `name` of the first of the entry points that exports it, such as `['node']` or `['.']`.
   *
   * @throws {Error} that names the function, if none exports it
   */
  call<Result>(name: string, entries: readonly string[], ...args: unknown[]): Promise<Result>
}

/** Opens the work tree at `root`. */
export function openTree(root: string): Tree {
  const { exports }: { exports: Record<string, { types?: string } | string | null> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )

  /** Returns the source of an entry point, whose declarations have the same path below another folder. */
  function sourceOf(entry: string): string | undefined {
    const key = entry === '.' ? '.' : `./${entry}`
    const target = key in exports ? exports[key] : exports[key.replace(/[^/]+$/, '*')]
    if (typeof target !== 'object' || target?.types === undefined) return undefined
    const path = target.types.replace(/^.*dist\/types\//, '').replace(/\.d\.ts$/, '.ts')
    const source = join(root, path.replace('*', entry.split('/').at(-1) ?? ''))
    return existsSync(source) ? source : undefined
  }

  return {
    root,
    async call(name, entries, ...args) {
      for (const source of entries.map(sourceOf)) {
        if (source === undefined) continue
        const module = await import(pathToFileURL(source).href)
        if (name in module) return module[name](...args)
      }
      throw new Error(`no ${name} in ${entries.join(' or ')}`)
    },
  }
}

/** The clock of all handlers in this process, in ms since the Unix epoch: it stands still unless a question moves it. */
const clock = { now: 0 }

interface Timer {
  at: number
  callback: (...args: unknown[]) => void
  args: unknown[]
}
const timers = new Set<Timer>()

/** Shorter delays, such as between the calls of a bank, end soon; only the monotonic clock moves. */
const MIN_DELAY_MS = 1_000
const SPEED = 10
let passed = 0

const TURNS = 4

/** Lets the clock decide about all times, delays and jitter of code that is imported afterwards. */
export function installClock(): void {
  const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis
  Object.assign(Date, { now: () => clock.now })
  Object.assign(Math, { random: () => 0.5 })
  Object.assign(performance, { now: () => clock.now + passed })
  Object.assign(globalThis, {
    setTimeout(callback: Timer['callback'], delay = 0, ...args: unknown[]) {
      if (delay < MIN_DELAY_MS) {
        const wake = (): void => {
          passed += delay
          callback(...args)
        }
        return startTimer(wake, delay / SPEED)
      }
      const timer = { at: clock.now + delay, callback, args, unref: () => timer, ref: () => timer }
      timers.add(timer)
      return timer
    },
    clearTimeout: (timer: Timer & NodeJS.Timeout) => timers.delete(timer) || stopTimer(timer),
  })
}

/** Moves the clock, and fires the timers that are due. */
export function moveClock(at: string): void {
  clock.now = Date.parse(at)
  for (const timer of [...timers].toSorted((one, other) => one.at - other.at)) {
    if (timer.at <= clock.now && timers.delete(timer)) timer.callback(...timer.args)
  }
}

/** What questions are asked of. */
export interface WorldOptions {
  /** Time at the start, ISO 8601. */
  at: string
  /** Names of `PROVIDERS`, or false to turn the rates off (default the handler's own). */
  latest?: readonly string[] | false
  history?: readonly string[] | false
  /** A name of `COMPAT`. */
  compat?: string
  hasAccess?: boolean
  /** Whether the upstreams respond at the start (default true). */
  isUp?: boolean
  /** Whether another handler has loaded the data into a store before (default false). */
  isRestored?: boolean
  /** Further options of the handler. */
  options?: RatesHandlerOptions
}

export interface World {
  tree: Tree
  handler: RatesHandler
  /** Questions switch the upstreams off, and edit what they send. */
  upstream: { isUp: boolean; edit: (text: string) => string }
  /** Resolves when work in the background has ended: refreshes, and turns of the event loop that are owed to other requests. */
  settled(): Promise<void>
}

type Provider = LatestProvider & HistoryProvider
/** Providers by name; all others are `createXProvider` without options. */
const PROVIDERS: Readonly<Record<string, (tree: Tree) => Promise<Provider>>> = {
  fake: (tree) => fake(tree, 1),
  'fake-7': (tree) => fake(tree, 7),
  failing: (tree) => tree.call('failingProvider', ['testing'], 'server-error'),
  'exchange-rate-api-v6': (tree) => built(tree, 'exchange-rate-api-v6', { key: 'k-1' }),
  'open-exchange-rates': (tree) => built(tree, 'open-exchange-rates', { key: 'k-1' }),
  'nbp-a': (tree) => built(tree, 'nbp'),
  'nbp-b': (tree) => built(tree, 'nbp', { table: 'B' }),
  pegged: (tree) => derived(tree, 'pegged', 'ecb'),
  fixed: (tree) => derived(tree, 'fixed', 'frankfurter', POINTS),
  'fixed-latest': (tree) => derived(tree, 'fixed', 'exchange-rate-api', POINTS),
  overlay: (tree) => derived(tree, 'overlay', 'frankfurter', OWN_RATES),
  'pegged-overlay': (tree) => derived(tree, 'pegged', 'overlay'),
}

const POINTS = [{ currency: 'XPT', anchor: 'EUR', ratio: 100 }]
const OWN_RATES = {
  name: 'Treasury',
  url: 'https://treasury.example',
  rates: { base: 'EUR', rates: { USD: 1.1, GBP: 0.85 }, since: '2026-11-01', until: '2026-11-19' },
}

const build = (tree: Tree, name: string): Promise<Provider> =>
  PROVIDERS[name]?.(tree) ?? built(tree, name)

/** Creates `banca-d-italia` with `createBancaDItaliaProvider`. */
function built(tree: Tree, name: string, options: object = {}): Promise<Provider> {
  const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return tree.call(`create${words.join('')}Provider`, ['providers', '.'], options)
}

async function derived(tree: Tree, wrap: string, inner: string, ...args: unknown[]) {
  return tree.call<Provider>(wrap, ['providers'], await build(tree, inner), ...args)
}

/** Creates a synthetic market of the package. */
async function fake(tree: Tree, seed: number): Promise<Provider> {
  const options = { seed, now: () => clock.now }
  type Fakes = Record<'latest' | 'history', Provider>
  const { latest, history } = await tree.call<Fakes>('fakeProviders', ['testing'], options)
  return { ...latest, ...history }
}

/** The factories of the emulated services, by their entry points. */
const COMPAT: Readonly<Record<string, string>> = {
  frankfurter: 'frankfurter',
  fixer: 'fixer',
  'open-exchange-rates': 'openExchangeRates',
}

/** API keys by name, and their records. */
export const KEYS = {
  pro: 'rsk_Ubjq8BtJtEfUowWLj4f471EH4UbGHT2hZDa2',
  small: 'rsk_4vgPYUnxdfV1uzN4BbxOrGicuU8Xga3ztk4C',
  expired: 'rsk_pIZ6yjb7tJJTI0iV9O3cTKvWifyXTZ3BSQLj',
  web: 'rsk_SawWNxU1T9mpA97GI5naSiYY6S96h32HpDX0',
  lost: 'rsk_2KuDSjjMXjPEOBfRNzRpU6GDsKBbcd1KFZQT',
}
const RECORDS = {
  [KEYS.pro]: { id: 'acme', plan: 'pro' },
  [KEYS.small]: { id: 'small', plan: 'small' },
  [KEYS.expired]: { id: 'old', plan: 'pro', expiresAt: Date.UTC(2026, 0, 1) },
  [KEYS.web]: { id: 'web', plan: 'pro', origins: ['https://shop.example'] },
  [KEYS.lost]: { id: 'lost', plan: 'gone' },
}

async function createAccess(tree: Tree): Promise<Access> {
  const byHash = new Map<string, object>()
  for (const [key, record] of Object.entries(RECORDS)) {
    byHash.set(await tree.call('hashKey', ['access'], key), record)
  }
  return tree.call('createAccess', ['access'], {
    anonymous: 'public',
    plans: { public: '5/min', pro: '60/min, 100/month', small: '200/h' },
    keys: { find: (hash: string) => byHash.get(hash) },
    queryParameters: ['access_key'],
  })
}

/** Builds a world; throws an error with the reason if the tree lacks a part of it. */
export async function createWorld(tree: Tree, given: WorldOptions): Promise<World> {
  timers.clear()
  passed = 0
  clock.now = Date.parse(given.at)
  const work: Promise<unknown>[] = []
  const upstream: World['upstream'] = { isUp: given.isUp ?? true, edit: (text) => text }
  const providersOf = async (
    names: WorldOptions['latest'],
  ): Promise<Provider[] | false | undefined> =>
    names ? Promise.all(names.map((name) => build(tree, name))) : names
  const options: RatesHandlerOptions = {
    now: () => clock.now,
    waitUntil: (refresh) => void work.push(refresh),
    providers: {
      latest: await providersOf(given.latest),
      history: await providersOf(given.history),
    },
    async fetch(input, init) {
      if (!upstream.isUp) throw new TypeError('fetch failed')
      const request = new Request(input, init)
      // Imported after the clock was installed; the upstreams are those of this tree for every tree.
      const { respondAsFeeds } = await import('../fixtures/feeds.ts')
      const response = respondAsFeeds(request.url, clock.now, await request.text())
      const isArchive = request.url.endsWith('.zip')
      return isArchive ? response : new Response(upstream.edit(await response.text()), response)
    },
    ...(given.hasAccess && { access: await createAccess(tree) }),
    ...given.options,
  }
  async function settled(): Promise<void> {
    await Promise.allSettled(work.splice(0))
    for (let turn = 0; turn < TURNS; turn += 1)
      await new Promise((resolve) => setImmediate(resolve))
  }
  if (given.isRestored) {
    options.store = new Map()
    const former = await createHandler(tree, options, undefined)
    await former.refresh()
    former.close()
    upstream.isUp = false
  }
  return { tree, handler: await createHandler(tree, options, given.compat), upstream, settled }
}

/** Creates the handler, with a service as routes of the handler. */
async function createHandler(
  tree: Tree,
  options: RatesHandlerOptions,
  compat: string | undefined,
): Promise<RatesHandler> {
  const factory = compat && COMPAT[compat]
  const routes = factory && (await tree.call<Routes>(factory, [`compat/${compat}`]))
  return tree.call('createRatesHandler', ['.'], { ...options, ...(routes && { routes }) })
}
