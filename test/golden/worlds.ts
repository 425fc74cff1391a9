// How the worlds of the questions are built from a work tree. What a tree names or mounts differently is found here, and nowhere else.
import type { Access, AccessOptions } from '../../src/access/index.ts'
import type {
  HistoryProvider,
  LatestProvider,
  RatesHandler,
  RatesHandlerOptions,
} from '../../src/index.ts'
import { respond } from './upstreams.ts'
import type { Tree } from './tree.ts'

/** The clock of all handlers in this process, in ms since the Unix epoch: it stands still unless a question moves it. */
export const clock = { now: 0 }

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
type Build = (tree: Tree) => Promise<Provider>

/** A provider by the name of its factory; `file` is the entry point of trees with one for each provider. */
function provider(factory: string, file: string, options: object = {}): Build {
  return async (tree) => {
    const create = await tree.find<(options: object) => Provider>(
      factory,
      'providers',
      `providers/${file}`,
      '.',
    )
    return create(options)
  }
}

/** A provider in another that is derived from it. */
function derived(wrap: string, inner: string, ...args: unknown[]): Build {
  return async (tree) => {
    const derive = await tree.find<(...args: unknown[]) => Provider>(
      wrap,
      'providers',
      'providers/derived',
    )
    return derive(await build(tree, inner), ...args)
  }
}

/** A synthetic market of the package. */
function fake(seed: number): Build {
  return async (tree) => {
    const create = await tree.find<
      (options: object) => { latest: LatestProvider; history: HistoryProvider }
    >('fakeProviders', 'testing')
    const { latest, history } = create({ seed, now: () => clock.now })
    return { ...latest, ...history }
  }
}

const OWN_RATES = {
  name: 'Treasury',
  url: 'https://treasury.example',
  rates: { base: 'EUR', rates: { USD: 1.1, GBP: 0.85 }, since: '2026-11-01', until: '2026-11-19' },
}
const POINTS = [{ currency: 'XPT', anchor: 'EUR', ratio: 100 }]

const PROVIDERS: Readonly<Record<string, Build>> = {
  fake: fake(1),
  'fake-7': fake(7),
  async failing(tree) {
    const create = await tree.find<(kind: string) => Provider>('failingProvider', 'testing')
    return create('server-error')
  },
  'exchange-rate-api': provider('createExchangeRateApiProvider', 'exchange-rate-api'),
  'exchange-rate-api-v6': provider('createExchangeRateApiV6Provider', 'exchange-rate-api-v6', {
    key: 'k-1',
  }),
  'open-exchange-rates': provider('createOpenExchangeRatesProvider', 'open-exchange-rates', {
    key: 'k-1',
  }),
  fawazahmed0: provider('createFawazahmed0Provider', 'fawazahmed0'),
  frankfurter: provider('createFrankfurterProvider', 'frankfurter'),
  ecb: provider('createEcbProvider', 'ecb'),
  'nbp-a': provider('createNbpProvider', 'nbp'),
  'nbp-b': provider('createNbpProvider', 'nbp', { table: 'B' }),
  cnb: provider('createCnbProvider', 'cnb'),
  'norges-bank': provider('createNorgesBankProvider', 'norges-bank'),
  riksbank: provider('createRiksbankProvider', 'riksbank'),
  'bank-of-canada': provider('createBankOfCanadaProvider', 'bank-of-canada'),
  bnr: provider('createBnrProvider', 'bnr'),
  nbu: provider('createNbuProvider', 'nbu'),
  'bank-of-england': provider('createBankOfEnglandProvider', 'bank-of-england'),
  mnb: provider('createMnbProvider', 'mnb'),
  hmrc: provider('createHmrcProvider', 'hmrc'),
  'banca-d-italia': provider('createBancaDItaliaProvider', 'banca-d-italia'),
  pegged: derived('pegged', 'ecb'),
  fixed: derived('fixed', 'frankfurter', POINTS),
  'fixed-latest': derived('fixed', 'exchange-rate-api', POINTS),
  overlay: derived('overlay', 'frankfurter', OWN_RATES),
  'pegged-overlay': derived('pegged', 'overlay'),
}

async function build(tree: Tree, name: string): Promise<Provider> {
  const create = PROVIDERS[name]
  if (!create) throw new Error(`no provider ${name}`)
  return create(tree)
}

/** The emulated services: the factory, and its entry points. */
const COMPAT: Readonly<Record<string, readonly [factory: string, ...entries: string[]]>> = {
  frankfurter: ['frankfurter', 'compat/frankfurter'],
  'frankfurter-v2': ['frankfurterV2', 'compat/frankfurter-v2'],
  'exchange-rate-api': ['exchangeRateApi', 'compat/exchange-rate-api'],
  'exchangerate-host': ['exchangerateHost', 'compat/exchangerate-host', 'compat/fixer'],
  'open-exchange-rates': ['openExchangeRates', 'compat/open-exchange-rates'],
}

/** API keys by their text, and their records. */
export const KEYS = {
  pro: 'rsk_Ubjq8BtJtEfUowWLj4f471EH4UbGHT2hZDa2',
  small: 'rsk_4vgPYUnxdfV1uzN4BbxOrGicuU8Xga3ztk4C',
  expired: 'rsk_pIZ6yjb7tJJTI0iV9O3cTKvWifyXTZ3BSQLj',
  web: 'rsk_SawWNxU1T9mpA97GI5naSiYY6S96h32HpDX0',
  lost: 'rsk_2KuDSjjMXjPEOBfRNzRpU6GDsKBbcd1KFZQT',
}
const RECORDS: Readonly<Record<keyof typeof KEYS, object>> = {
  pro: { id: 'acme', plan: 'pro' },
  small: { id: 'small', plan: 'small' },
  expired: { id: 'old', plan: 'pro', expiresAt: Date.UTC(2026, 0, 1) },
  web: { id: 'web', plan: 'pro', origins: ['https://shop.example'] },
  lost: { id: 'lost', plan: 'gone' },
}

async function createAccess(tree: Tree): Promise<Access> {
  const create = await tree.find<(options: object) => Access>('createAccess', 'access')
  const hashKey = await tree.find<(key: string) => Promise<string>>('hashKey', 'access')
  const names = ['pro', 'small', 'expired', 'web', 'lost'] as const
  const records = await Promise.all(
    names.map(async (name) => [await hashKey(KEYS[name]), RECORDS[name]] as const),
  )
  const byHash = new Map(records)
  const options = {
    anonymous: 'public',
    keys: { find: (hash: string) => byHash.get(hash) },
    queryParameters: ['access_key'],
  }
  try {
    return create({
      ...options,
      plans: { public: '5/min', pro: '60/min, 100/month', small: '20/h' },
    })
  } catch {
    const plans: AccessOptions['plans'] = {
      public: { burst: '5/min' },
      pro: { burst: '60/min', month: 100 },
      small: { burst: '20/h' },
    }
    return create({ ...options, plans })
  }
}

/** Mounts a service: as routes of the handler, or in front of it. */
async function mount(
  tree: Tree,
  name: string,
  create: (options: RatesHandlerOptions) => RatesHandler,
  options: RatesHandlerOptions,
): Promise<RatesHandler> {
  const service = COMPAT[name]
  if (!service) throw new Error(`no service ${name}`)
  const [factory, ...entries] = service
  const toRoutes = await tree.find<(options: object) => unknown>(factory, ...entries)
  const inFront = await tree.find<(handler: RatesHandler, options: object) => RatesHandler>(
    factory,
    ...entries,
  )
  let routes: unknown
  try {
    routes = toRoutes({})
  } catch {
    return inFront(create(options), { now: () => clock.now })
  }
  return create(Object.assign(options, { routes }))
}

/** Builds a world; throws an error with the reason if the tree lacks a part of it. */
export async function createWorld(tree: Tree, given: WorldOptions): Promise<World> {
  timers.clear()
  passed = 0
  clock.now = Date.parse(given.at)
  const work: Promise<unknown>[] = []
  const upstream: World['upstream'] = { isUp: given.isUp ?? true, edit: (text) => text }
  const create = await tree.find<(options: RatesHandlerOptions) => RatesHandler>(
    'createRatesHandler',
    '.',
  )
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
      return respond(request.url, await request.text(), clock.now, (text) => upstream.edit(text))
    },
    ...(given.hasAccess && { access: await createAccess(tree) }),
    ...given.options,
  }
  const handler =
    given.compat === undefined ? create(options) : await mount(tree, given.compat, create, options)
  async function settled(): Promise<void> {
    await Promise.allSettled(work.splice(0))
    for (let turn = 0; turn < TURNS; turn += 1)
      await new Promise((resolve) => setImmediate(resolve))
  }
  return { tree, handler, upstream, settled }
}
