import type { RatesError } from '../errors.ts'
import type { AnswerRequest, Reply } from './answer.ts'
import type { Success } from './respond.ts'

/** What an endpoint answers with: a success, or any other reply. */
export type Outcome = Success | Reply

/**
 * What is behind one path. `query` is raw, without the question mark; the `signal` of `waiter` ends its waiting. It answers at
 * once where it need not wait, which is much cheaper.
 */
export type Endpoint = (
  query: string,
  waiter: Pick<AnswerRequest, 'signal'>,
) => Outcome | Promise<Outcome>

/** Endpoints that share the form of their errors. */
export interface Group {
  /** By path below the base path. */
  endpoints: Readonly<Record<string, Endpoint>>
  /** The body that tells `error`. */
  errorBody(error: RatesError): object
}
