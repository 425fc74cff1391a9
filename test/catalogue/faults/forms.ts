import type { Variant } from './case.ts'
import { toLatestTruth } from './truth.ts'
import { NONCE, answer, later } from './upstream.ts'
import type { HistoryBody, Inject, LatestBody } from './upstream.ts'

/** Both data sets: for what can happen to either upstream in the same way. */
export const BOTH = ['latest', 'history'] as const

/** A page, as anything between two machines may answer in place of either. */
export const PAGE = `<!doctype html><title>${NONCE}</title><h1>Just a moment...</h1>`

/** What is told of an answer that a gate refused. */
export const REJECTED = ['rates_rejected'] as const

/** A form of a fault that leaves nothing usable. */
export function failing(name: string, inject: Inject, more: Partial<Variant> = {}): Variant {
  return { name, verdict: 'refused', inject, ...more }
}

/** An upstream that answers with `text`. */
export function says(
  text: string,
  status?: number,
  headers?: Record<string, string>,
): () => Response {
  return () => answer(text, status, headers)
}

/** The good answer after `change`, which works on the text. */
export function rewritten(change: (good: string) => string): Inject {
  return ({ good }) => answer(change(good))
}

/** The good answer after `change`, which works on the body of either upstream. */
export function changedJson(change: (body: LatestBody & HistoryBody) => object): Inject {
  return rewritten((good) => JSON.stringify(change(JSON.parse(good))))
}

/** The good answer after `delay` ms. */
export function after(delay: number): Inject {
  return async (exchange) => {
    await later(exchange, delay)
    return answer(exchange.good)
  }
}

/** A form in which the open feed answers with a changed body that is served as it came. */
export function changedLatest(
  name: string,
  change: (body: LatestBody) => LatestBody,
  more: Partial<Variant> = {},
): Variant {
  return {
    name,
    verdict: 'accepted',
    inject: changedJson(change),
    serves: { latest: (body) => toLatestTruth(change(body)) },
    ...more,
  }
}

/** A form in which the open feed answers with a changed body that is of no use. */
export function spoiltLatest(
  name: string,
  change: (body: LatestBody) => object,
  more: Partial<Variant> = {},
): Variant {
  return failing(name, changedJson(change), more)
}

/** A form in which the relay answers with a changed body that is served as it came. */
export function changedHistory(
  name: string,
  change: (body: HistoryBody) => HistoryBody,
  more: Partial<Variant> = {},
): Variant {
  return {
    name,
    dataSets: ['history'],
    verdict: 'accepted',
    inject: changedJson(change),
    serves: { history: (body) => change(body).rates },
    ...more,
  }
}

/** A form in which the relay answers with a changed body that is of no use. */
export function spoiltHistory(
  name: string,
  change: (body: HistoryBody) => object,
  more: Partial<Variant> = {},
): Variant {
  return failing(name, changedJson(change), { dataSets: ['history'], ...more })
}
