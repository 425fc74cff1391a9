import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { beforeAll, describe, expect, test } from 'vitest'

import { requireProgram } from './require-program.ts'
import { RUNTIMES } from './runtimes.ts'

const PROGRAM = inRepository('test/system/digest-program.ts')

let expected: unknown

beforeAll(async () => {
  expected = await digest(process.execPath)
})

test('the digest covers the catalogue and the good questions', () => {
  expect(expected).toMatchObject({ digest: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(expected).toHaveProperty(
    'answers',
    expect.toSatisfy((count: number) => count > 1_600),
  )
})

describe.each(RUNTIMES)('in %s', (name, program, ...parameters) => {
  test('every answer has the same status, headers and body as in Node', async ({ skip }) => {
    requireProgram(name, program, skip)
    expect(await digest(program, ...parameters)).toEqual(expected)
  })

  test('no answer needs to change Object.prototype', async ({ skip }) => {
    requireProgram(name, program, skip)
    expect(await digest(program, ...parameters, PROGRAM, '--frozen')).toEqual(expected)
  })
})

/** What the digest program prints when `program` runs it. */
async function digest(program: string, ...parameters: string[]): Promise<unknown> {
  const withProgram = parameters.includes(PROGRAM) ? parameters : [...parameters, PROGRAM]
  const { stdout } = await promisify(execFile)(program, withProgram, {
    cwd: inRepository('.'),
    env: { ...process.env, DENO_NO_UPDATE_CHECK: '1' },
  })
  return JSON.parse(stdout)
}

function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
