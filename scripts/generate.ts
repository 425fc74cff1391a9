import { writeFileSync } from 'node:fs'

import { generatedFiles } from './generated-files.ts'

const FOLDER = new URL('../src/generated/', import.meta.url)

for (const [name, text] of Object.entries(await generatedFiles())) {
  writeFileSync(new URL(name, FOLDER), text)
}
