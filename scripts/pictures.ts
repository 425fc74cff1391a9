// Renders the pictures of the README from the real explorer and the real commands, into docs/pictures or the folder given.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { explorerPicture } from './pictures/explorer.ts'
import { terminalPicture } from './pictures/terminal.ts'

const folder = process.argv[2] ?? join(import.meta.dirname, '../docs/pictures')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'terminal.svg'), await terminalPicture())
writeFileSync(join(folder, 'explorer.png'), await explorerPicture())
