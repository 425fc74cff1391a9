import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { describe, expect, it } from 'vitest'

import { generatedFiles } from '../../scripts/generate.ts'
import { readTypes } from '../../scripts/openapi/type-schemas.ts'
import { temporaryFolder } from './processes.ts'

const FOLDER = new URL('../../src/generated/', import.meta.url)

it('equals the output of `npm run generate`', async () => {
  const made = await generatedFiles()
  expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(made).sort())
  for (const [name, text] of Object.entries(made)) {
    expect(readFileSync(new URL(name, FOLDER), 'utf8') === text, name).toBe(true)
  }
})

describe('the schemas of an interface', () => {
  function read(type: string): unknown {
    const module = join(temporaryFolder(), 'types.ts')
    writeFileSync(module, `interface Components { Body: { property: ${type} } }`)
    return readTypes(pathToFileURL(module), 'Components', { string: { type: 'string' } })
  }

  it('need names of all types that are not objects', () => {
    const properties = { property: { type: 'string' } }
    expect(read('string')).toMatchObject({ Body: { properties, required: ['property'] } })
    for (const type of ['number', 'string[] | number', 'readonly string[]', 'Missing', '{}']) {
      expect(() => read(type), type).toThrow(/no schema of|not a property/)
    }
  })
})
