import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { needBrowser, newContext } from './chromium.ts'
import { run, temporaryFolder } from './processes.ts'
import { ROOT } from './runtimes.ts'

needBrowser()

async function inspect(picture: Buffer) {
  const page = await (await newContext()).newPage()
  const url = `data:image/png;base64,${picture.toString('base64')}`
  return page.evaluate(async (url) => {
    const image = new Image()
    image.src = url
    await image.decode()
    const { naturalWidth: width, naturalHeight: height } = image
    const context = new OffscreenCanvas(width, height).getContext('2d')
    context?.drawImage(image, 0, 0)
    const pixels = new Uint32Array(context?.getImageData(0, 0, width, height).data.buffer ?? [])
    return { width, height, colours: new Set(pixels).size }
  }, url)
}

it('renders the pictures of the README with the size of those in docs/pictures', async () => {
  const folder = temporaryFolder()
  const { code, stderr } = await run(process.execPath, ['scripts/pictures.ts', folder], {
    cwd: ROOT,
  })
  expect(code, stderr).toBe(0)
  const folders = [folder, join(ROOT, 'docs/pictures')]
  const [rendered, committed] = folders.map((each) => readFileSync(join(each, 'explorer.png')))
  if (!rendered || !committed) throw new Error('a picture is missing')
  expect(committed.length).toBeLessThanOrEqual(200_000)
  const { colours, ...size } = await inspect(rendered)
  expect(await inspect(committed)).toMatchObject(size)
  expect(size).toEqual({ width: 1760, height: 1556 })
  // Text and lines are antialiased; a blank page has one colour.
  expect(colours).toBeGreaterThan(50)
  const terminals = folders.map((each) => readFileSync(join(each, 'terminal.svg'), 'utf8'))
  expect(terminals[0]).toBe(terminals[1])
})
