import { writeFileSync } from 'node:fs'

import { generatedFiles } from './files.ts'

const FOLDER = new URL('../generated/', import.meta.url)

for (const [name, text] of Object.entries(await generatedFiles())) {
  writeFileSync(new URL(name, FOLDER), text)
}
