import { expectTypeOf } from 'expect-type'
import { test } from 'vitest'

import { createRatesHandler } from '../src/index.ts'

test('a handler takes a request', () => {
  expectTypeOf(createRatesHandler).returns.toBeCallableWith(new Request('http://localhost'))
})
