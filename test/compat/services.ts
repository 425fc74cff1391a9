import { expect } from 'vitest'

import { exchangerateHost } from '../../src/compat/exchangerate-host.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'

interface Service {
  mount: typeof frankfurter
  /** A path that it serves. */
  path: string
  /** An unknown path below its prefix, if it has one. */
  unknown: string | undefined
  /** The form of its errors. */
  error: (status: number) => object
}

export const SERVICES: readonly Service[] = [
  {
    mount: frankfurter,
    path: '/v1/latest',
    unknown: '/v1/nothing',
    error: (status) =>
      status === 404 ? { status, message: 'not found' } : { message: expect.any(String) },
  },
  {
    mount: exchangerateHost,
    path: '/live',
    unknown: undefined,
    error: () => ({
      success: false,
      error: { code: expect.any(Number), type: expect.any(String), info: expect.any(String) },
    }),
  },
  {
    mount: openExchangeRates,
    path: '/api/latest.json',
    unknown: '/api/nothing.json',
    error: (status) => ({
      error: true,
      status,
      message: expect.any(String),
      description: expect.any(String),
    }),
  },
]
