import { faultsOf } from './document.ts'
import type { Operation, Response as Described } from './document.ts'

/** An answer, and all of its body. */
export interface Answered {
  status: number
  headers: Headers
  body: string
}

/** They are of the connection, of the framing, or described by the content. */
const UNDESCRIBED =
  /^(content-(type|length|encoding)|vary|date|connection|keep-alive|transfer-encoding)$/

/** Reads a response to its end. */
export async function read(response: Response): Promise<Answered> {
  const { status, headers } = response
  return { status, headers, body: await response.text() }
}

/** What of an answer the document does not have so, each as a sentence. */
export function differences({ responses }: Operation, answered: Answered): string[] {
  const described = responses[answered.status]
  return described
    ? responseDifferences(described, answered)
    : [`the status ${answered.status} is not documented`]
}

/** The same for one response of the document, whose status is for the caller to check. */
export function responseDifferences(described: Described, answered: Answered): string[] {
  return [
    ...headerDifferences(described, answered.headers),
    ...bodyDifferences(described, answered),
  ]
}

function headerDifferences({ headers: described }: Described, headers: Headers): string[] {
  const names = Object.keys(described).map((name) => name.toLowerCase())
  const unknown = [...headers.keys()].filter((name) => {
    return !UNDESCRIBED.test(name) && !names.includes(name)
  })
  const faults = Object.entries(described).map(([name, { required, schema }]) => {
    const value = headers.get(name)
    if (value === null) return required ? 'is missing' : ''
    return faultsOf(schema, schema.type === 'integer' ? Number(value) : value)
  })
  return [
    ...unknown.map((name) => `the header ${name} is not documented`),
    ...names.map((name, index) => `the header ${name}: ${faults[index]}`),
  ].filter((sentence) => !sentence.endsWith(': '))
}

function bodyDifferences({ content }: Described, { headers, body }: Answered): string[] {
  if (!content) return body === '' ? [] : ['there is a body']
  const type = headers.get('content-type')?.split(';', 1)[0] ?? ''
  const described = content[type]
  if (!described) return [`the media type ${type} is not documented`]
  const faults = faultsOf(described.schema, type === 'application/json' ? JSON.parse(body) : body)
  return faults === '' ? [] : [`the body: ${faults}`]
}
