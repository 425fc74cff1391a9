import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { terminalPicture } from '../scripts/pictures/terminal.ts'

it('renders docs/pictures/terminal.svg byte for byte; `npm run pictures` updates it', async () => {
  const picture = new URL('../docs/pictures/terminal.svg', import.meta.url)
  expect(readFileSync(picture, 'utf8')).toBe(await terminalPicture())
})

it('renders the output of both commands in several colours', async () => {
  const picture = await terminalPicture()
  for (const text of ['npx ratesmith convert', '85.367936', 'npx ratesmith history', 'average']) {
    expect(picture).toContain(text)
  }
  expect(new Set(picture.match(/fill="#\w+"/g)).size).toBeGreaterThan(3)
  expect(picture).not.toContain('\u001B')
})
