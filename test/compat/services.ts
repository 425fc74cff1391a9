import { expect } from 'vitest'

import { fixer } from '../../src/compat/fixer.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'

interface Service {
  routes: typeof frankfurter
  path: string
  list: string
  error: (status: number) => object
}

export const SERVICES: readonly Service[] = [
  {
    routes: frankfurter,
    path: '/v1/latest',
    list: '/v1/currencies',
    error: (status) =>
      status === 404 ? { status, message: 'not found' } : { message: expect.any(String) },
  },
  {
    routes: fixer,
    path: '/live',
    list: '/symbols',
    error: () => ({
      success: false,
      error: { code: expect.any(Number), type: expect.any(String), info: expect.any(String) },
    }),
  },
  {
    routes: openExchangeRates,
    path: '/api/latest.json',
    list: '/api/currencies.json',
    error: (status) => ({
      error: true,
      status,
      message: expect.any(String),
      description: expect.any(String),
    }),
  },
]
