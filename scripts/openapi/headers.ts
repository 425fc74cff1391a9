import type { Header } from '../../src/http/messages.ts'
import { headerForms, valueOf } from './header-forms.ts'
import type { HeaderForm } from './header-forms.ts'
import { reference } from './reference.ts'

const CONTENT_HEADERS = ['content-type', 'content-length']

/** Returns the Header Objects of the document, by name. */
export function headerComponents(): Record<string, object> {
  const entries = Object.entries(headerForms).map(([id, form]) => [id, headerObject(form)])
  return Object.fromEntries(entries)
}

/** Describes the headers of responses with one status; `lists` has the headers of each response. */
export function describeHeaders(lists: readonly Header[][]): Record<string, object> {
  const names = new Set(lists.flat().map(([name]) => name))
  const entries = [...names]
    .filter((name) => !CONTENT_HEADERS.includes(name))
    .map((name) => {
      return describeHeader(
        name,
        lists.map((list) => valueOf(name, list)),
      )
    })
  return Object.fromEntries(entries)
}

/** `values` has the value in each response, or undefined for a response without the header. */
function describeHeader(
  name: string,
  values: (string | undefined)[],
): [name: string, header: object] {
  const sent = [...new Set(values)].filter((value) => value !== undefined)
  const [[id, form], ...others] = findForms(name, sent)
  const required = (form.required ?? true) && !values.includes(undefined)
  if (others.length > 0) {
    const description = [form, ...others.map(([, other]) => other)].map((each) => each.description)
    const schema: HeaderForm['schema'] = { type: 'string', enum: sent }
    return [form.name, { description: description.join(' Or: '), required, schema }]
  }
  const isShared = required === (form.required ?? true)
  return [form.name, isShared ? reference('headers', id) : headerObject({ ...form, required })]
}

type Found = [id: string, form: HeaderForm]

function findForms(name: string, values: string[]): [Found, ...Found[]] {
  const [first, ...others] = Object.entries(headerForms).filter(([, form]) => {
    const value = form.schema['const']
    const fits = value === undefined || values.some((sent) => sent === value)
    return form.name.toLowerCase() === name && fits
  })
  if (!first) throw new Error(`no description of the header ${name}: ${values.join()}`)
  return [first, ...others]
}

function headerObject({ description, schema, required = true }: HeaderForm): object {
  return { description, required, schema }
}
