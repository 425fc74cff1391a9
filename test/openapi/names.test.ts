import { beforeEach, describe, expect, it, vi } from 'vitest'

import { operations } from './document.ts'
import { ask, exampleOf } from './live.ts'

const { known } = vi.hoisted(() => ({ known: new Set<string>() }))

vi.mock(import('../../src/http/query.ts'), async (load) => {
  const { createQueryParser } = await load()
  return {
    createQueryParser(rules) {
      const parse = createQueryParser(rules)
      return (query) => {
        for (const name of Object.keys(rules.parameters)) known.add(name)
        return parse(query)
      }
    },
  }
})

describe.each(operations)('$operationId', (operation) => {
  beforeEach(() => known.clear())

  it('reads the parameters that the document has, and no other', async () => {
    const { parameters } = operation
    const required = exampleOf(operation)
    await ask(operation, required)
    // Some are read only where there is something to read.
    for (const { name, example } of parameters) {
      const query = new URLSearchParams(required)
      query.set(name, String(example))
      await ask(operation, `?${query}`)
    }
    expect([...known].toSorted()).toEqual(parameters.map(({ name }) => name).toSorted())
  })
})

it('is told of what is read: every operation with parameters has some', () => {
  expect(operations.filter(({ parameters }) => parameters.length > 0).length).toBeGreaterThan(4)
})
