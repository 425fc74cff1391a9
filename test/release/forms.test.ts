import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

import { ROOT } from '../system/root.ts'
import { read } from './pages.ts'

interface Field {
  type: string
  id?: string
  attributes: { label?: string; value?: string; options?: { label?: string }[] }
}

interface Update {
  'package-ecosystem': string
  cooldown: Record<string, number>
  ignore?: { 'dependency-name': string }[]
}

const FORMS = '.github/ISSUE_TEMPLATE'
const TYPES = ['checkboxes', 'dropdown', 'input', 'markdown', 'textarea']

/** What GitHub would refuse in the fields of a form. */
function complaints(fields: Field[]): string[] {
  const ids = fields.flatMap(({ id = [] }) => id)
  return [
    ...fields.filter(({ type }) => !TYPES.includes(type)).map(({ type }) => `type ${type}`),
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `two of ${id}`),
    ...fields
      .filter(({ type, attributes: { label, value } }) => !(type === 'markdown' ? value : label))
      .map(({ type }) => `${type} without a text`),
    ...fields
      .filter(({ attributes: { options = [] } }) => options.some(({ label }) => !label))
      .map(() => 'option without a label'),
  ]
}

describe('a form for issues', () => {
  const names = readdirSync(join(ROOT, FORMS)).filter((name) => name !== 'config.yml')

  it.each(names)('%s has what GitHub asks for', (name) => {
    const form = parse(read(`${FORMS}/${name}`))
    expect(form).toMatchObject({
      name: expect.stringMatching(/\S/),
      description: expect.stringMatching(/\S/),
    })
    expect(form.body.length).toBeGreaterThan(2)
    expect(complaints(form.body)).toEqual([])
  })

  it('is found out where it has not', () => {
    const bad: Field[] = [
      { type: 'text', id: 'one', attributes: { label: 'One' } },
      { type: 'input', id: 'one', attributes: {} },
      { type: 'checkboxes', attributes: { label: 'Two', options: [{}] } },
    ]
    expect(complaints(bad)).toEqual([
      'type text',
      'two of one',
      'input without a text',
      'option without a label',
    ])
  })
})

describe('the update bot', () => {
  const { version, updates }: { version: number; updates: Update[] } = parse(
    read('.github/dependabot.yml'),
  )

  it('waits a week, for packages and actions alike', () => {
    expect(version).toBe(2)
    expect(updates.map((each) => [each['package-ecosystem'], each.cooldown])).toEqual([
      ['npm', { 'default-days': 7 }],
      ['github-actions', { 'default-days': 7 }],
    ])
  })

  it('leaves alone what there is', () => {
    const { devDependencies } = JSON.parse(read('package.json'))
    const ignored = updates.flatMap(({ ignore = [] }) => ignore)
    expect(ignored.length).toBeGreaterThan(0)
    for (const each of ignored) expect(devDependencies).toHaveProperty([each['dependency-name']])
  })
})
