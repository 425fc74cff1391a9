import type { Header } from '../http/raw.ts'
import { headerForms, valueOf } from './header-forms.ts'
import type { HeaderForm } from './header-forms.ts'
import { reference } from './reference.ts'

/** They belong to the body, which the content beside them describes. */
const OF_THE_BODY = ['content-type', 'content-length']

/** The Header Objects of the document, by their names. */
export function headerComponents(): Record<string, object> {
  const entries = Object.entries(headerForms).map(([id, form]) => [id, headerObject(form)])
  return Object.fromEntries(entries)
}

/** The headers of answers with one status: `lists` has those of each answer. */
export function describeHeaders(lists: readonly Header[][]): Record<string, object> {
  const names = new Set(lists.flat().map(([name]) => name))
  const entries = [...names]
    .filter((name) => !OF_THE_BODY.includes(name))
    .map((name) => {
      return describeHeader(
        name,
        lists.map((list) => valueOf(name, list)),
      )
    })
  return Object.fromEntries(entries)
}

/** A header with its value in every answer, undefined where it has none. */
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
  const isAsTold = required === (form.required ?? true)
  return [form.name, isAsTold ? reference('headers', id) : headerObject({ ...form, required })]
}

type Found = [id: string, form: HeaderForm]

/** What is told of a header with any of `values`. */
function findForms(name: string, values: string[]): [Found, ...Found[]] {
  const [first, ...others] = Object.entries(headerForms).filter(([, form]) => {
    const value = form.schema['const']
    const fits = value === undefined || values.some((sent) => sent === value)
    return form.name.toLowerCase() === name && fits
  })
  if (!first) throw new Error(`nothing is told of the header ${name}: ${values.join()}`)
  return [first, ...others]
}

function headerObject({ description, schema, required = true }: HeaderForm): object {
  return { description, required, schema }
}
