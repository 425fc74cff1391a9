import type { Period } from '../../oracle.ts'
import type { Question } from '../invariants/question.ts'
import { LATEST_CODES } from './latest-feed.ts'
import type { Random } from './random.ts'
import { REFERENCE_CODES } from './reference-rates.ts'

/** Codes that every table has, whatever fault it comes with. */
const STEADY_CODES = LATEST_CODES.filter(
  (code) => LATEST_CODES.indexOf(code) < 24 && !['CZK', 'EUR', 'JPY', 'AED'].includes(code),
)

const HISTORY_CODES = ['EUR', ...REFERENCE_CODES]
const PERIODS: readonly Period[] = ['1W', '1W', '1W', '1W', '1W', '1M', '1M', '3M', '1Y', '5Y']

/** Questions with their shares. */
const KINDS: readonly [share: number, draw: (random: Random) => Question][] = [
  [60, conversion],
  [4, latest],
  [10, selection],
  [2, earlierTable],
  [10, history],
  [4, hopeless],
  [2, unanswerable],
  [1, earlierHead],
  [2, revalidation],
  [1, preflight],
  [1, status],
]

const TOTAL = KINDS.reduce((sum, [share]) => sum + share, 0)

/** Any question that a client may have. */
export function drawQuestion(random: Random): Question {
  let left = random.next() * TOTAL
  for (const [share, draw] of KINDS) {
    left -= share
    if (left < 0) return draw(random)
  }
  return conversion(random)
}

/** A question that takes the data of `latest` or `history`, and is sure to be answered where they are there. */
export function plainQuestion(dataSet: 'latest' | 'history', random: Random): Question {
  return { ...(dataSet === 'latest' ? conversion(random) : history(random)), isDecisive: true }
}

function conversion(random: Random): Question {
  const [from, to] = [random.pick(STEADY_CODES), random.pick(STEADY_CODES)]
  const amount = random.pick([1, 100, 0.1, 12.34, 1e6])
  const isVersioned = random.chance(0.85)
  const path = isVersioned ? '/api/v1/convert' : '/api/convert'
  const written = random.chance(0.1) ? from.toLowerCase() : from
  return {
    method: 'GET',
    target: `${path}?from=${written}&to=${to}&amount=${amount}`,
    dataSet: 'latest',
    statuses: [200],
    record: { kind: 'conversion', from, to, amount, isVersioned },
  }
}

function latest(random: Random): Question {
  const base = random.chance(0.4) ? 'USD' : random.pick(STEADY_CODES)
  return {
    method: 'GET',
    target: `/api/v1/latest?base=${base}`,
    dataSet: 'latest',
    statuses: [200],
    record: { kind: 'latest', base, isVersioned: true },
  }
}

function selection(random: Random): Question {
  const base = random.pick(STEADY_CODES)
  const symbols = [random.pick(STEADY_CODES), random.pick(STEADY_CODES), random.pick(STEADY_CODES)]
  return {
    method: 'GET',
    target: `/api/v1/latest?base=${base}&symbols=${symbols.join()}`,
    dataSet: 'latest',
    statuses: [200],
    record: { kind: 'latest', base, symbols, isVersioned: true },
  }
}

function earlierTable(random: Random): Question {
  const base = random.pick(STEADY_CODES)
  return {
    method: 'GET',
    target: `/api/rates?base=${base}`,
    dataSet: 'latest',
    statuses: [200],
    record: { kind: 'latest', base, isVersioned: false },
  }
}

function history(random: Random): Question {
  const from = random.pick(HISTORY_CODES)
  const to = random.pick(HISTORY_CODES.filter((code) => code !== from))
  const period = random.pick(PERIODS)
  return {
    method: 'GET',
    target: `/api/v1/history?from=${from}&to=${to}&period=${period}`,
    dataSet: 'history',
    statuses: [200],
    record: { kind: 'history', from, to, period },
  }
}

/** Wrong whatever the data are. */
function hopeless(random: Random): Question {
  const [target, status] = random.pick<readonly [string, number]>([
    ['/api/v1/convert?from=USD', 400],
    ['/api/v1/convert?from=US&to=EUR', 400],
    ['/api/v1/convert?from=USD&to=GBP&amount=-1', 400],
    ['/api/v1/convert?from=USD&from=EUR&to=GBP', 400],
    ['/api/v1/latest?base=', 400],
    ['/api/v1/latest?BASE=EUR', 400],
    ['/api/v1/latest?symbols=USD,%00%E2%80%AE', 400],
    ['/api/v1/history?from=USD&to=GBP&period=1m', 400],
    ['/api/v1/nothing', 404],
    ['/api/v1/latest/', 404],
    ['/elsewhere', 404],
  ])
  return { method: 'GET', target, statuses: [status] }
}

/** Well-formed, but not in the data. */
function unanswerable(random: Random): Question {
  return random.chance(0.5)
    ? {
        method: 'GET',
        target: '/api/v1/convert?from=XTS&to=USD',
        dataSet: 'latest',
        statuses: [400],
      }
    : {
        method: 'GET',
        target: '/api/v1/history?from=THB&to=USD',
        dataSet: 'history',
        statuses: [400],
      }
}

function earlierHead(random: Random): Question {
  const target = `/api/convert?from=USD&to=${random.pick(STEADY_CODES)}`
  return { method: 'HEAD', target, dataSet: 'latest', statuses: [200] }
}

function revalidation(random: Random): Question {
  const target = `/api/v1/latest?base=${random.pick(STEADY_CODES)}`
  return { method: 'GET', target, dataSet: 'latest', statuses: [304], ifNoneMatch: '*' }
}

function preflight(random: Random): Question {
  return random.chance(0.5)
    ? { method: 'OPTIONS', target: '/api/v1/latest', statuses: [204] }
    : { method: 'POST', target: '/api/v1/latest', statuses: [405] }
}

function status(): Question {
  return {
    method: 'GET',
    target: '/api/v1/status',
    statuses: [200],
    record: { kind: 'status' },
  }
}
