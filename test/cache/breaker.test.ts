import { describe, expect, it } from 'vitest'

import { createBreaker } from '../../src/cache/breaker.ts'
import type { Breaker } from '../../src/cache/breaker.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

/** Whether `breaker` lets somebody try, asked so many times. */
function answers(breaker: Breaker, times: number): boolean[] {
  return Array.from({ length: times }, () => breaker.mayTry())
}

function failing(breaker: Breaker, times: number): void {
  for (let failures = 0; failures < times; failures += 1) breaker.fail()
}

describe('a breaker', () => {
  it('lets everybody try until five failures in a row', () => {
    const breaker = createBreaker(virtualRuntime(0))
    failing(breaker, 4)
    expect(answers(breaker, 3)).toEqual([true, true, true])
    breaker.succeed()
    failing(breaker, 4)
    expect(answers(breaker, 3)).toEqual([true, true, true])
    breaker.fail()
    expect(answers(breaker, 3)).toEqual([false, false, false])
  })

  it('rests for five seconds from the last failure on, and then lets one try', async () => {
    const runtime = virtualRuntime(0)
    const breaker = createBreaker(runtime)
    failing(breaker, 4)
    await runtime.advance(4_000)
    breaker.fail()
    await runtime.advance(4_999)
    expect(breaker.mayTry()).toBe(false)
    await runtime.advance(1)
    expect(answers(breaker, 3)).toEqual([true, false, false])
    await runtime.advance(5_000)
    expect(answers(breaker, 3)).toEqual([true, false, false])
  })

  it('is not led astray by a clock that is set', async () => {
    const runtime = virtualRuntime(0)
    const breaker = createBreaker(runtime)
    failing(breaker, 5)
    runtime.setClock(1e12)
    expect(breaker.mayTry()).toBe(false)
    runtime.setClock(-1e12)
    await runtime.advance(5_000)
    expect(breaker.mayTry()).toBe(true)
  })

  it('lets everybody try again after a success', async () => {
    const runtime = virtualRuntime(0)
    const breaker = createBreaker(runtime)
    failing(breaker, 7)
    await runtime.advance(5_000)
    expect(breaker.mayTry()).toBe(true)
    breaker.succeed()
    expect(answers(breaker, 3)).toEqual([true, true, true])
  })
})
