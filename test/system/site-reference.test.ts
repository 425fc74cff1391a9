import { join } from 'node:path'

import { expect, it } from 'vitest'

import { ENTRY_POINTS } from '../../scripts/entry-points.ts'
import { referencePages } from '../../scripts/site/reference.ts'
import { ROOT } from './runtimes.ts'

it('has a page for every module, with the declaration of every export, and no path of this machine', async () => {
  const pages = referencePages(ROOT)
  const [index] = pages
  for (const { subpath } of ENTRY_POINTS) {
    const name = join('ratesmith', subpath)
    const text = pages.find((page) => page.text.startsWith(`# ${name}\n`))?.text ?? ''
    const exports = Object.keys(await import(name))
    expect(exports.length + text.length, name).toBeGreaterThan(0)
    for (const exported of exports) {
      expect(text, `${name}: ${exported}`).toMatch(
        new RegExp(
          `^## ${exported}\n[^#]*\`\`\`ts\n(?:abstract )?(?:function|const|let|class|type|interface) ${exported}\\b`,
          'm',
        ),
      )
      expect(index?.text).toContain(`[${exported}](`)
    }
  }
  expect(pages.filter(({ text }) => text.includes(ROOT))).toEqual([])
})
