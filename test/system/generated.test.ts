import { readFileSync, readdirSync } from 'node:fs'

import { expect, it } from 'vitest'

import { generatedFiles } from '../../scripts/generate.ts'

const FOLDER = new URL('../../src/generated/', import.meta.url)

it('the generated files equal the output of `npm run generate`', async () => {
  const made = await generatedFiles()
  expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(made).sort())
  for (const [name, text] of Object.entries(made)) {
    expect(readFileSync(new URL(name, FOLDER), 'utf8') === text, name).toBe(true)
  }
})
