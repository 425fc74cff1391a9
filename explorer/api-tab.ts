import type { Api } from './api.ts'
import { copyOf, find, make } from './dom.ts'
import { exchange } from './exchange.ts'
import type { Exchange } from './exchange.ts'
import { createHttpTools } from './request-tools.ts'
import type { HttpRequest } from './snippets.ts'

/** A value or a reference to one. */
interface Referable {
  $ref?: string
}

interface Schema extends Referable {
  type?: string
  enum?: readonly string[]
  default?: unknown
}

interface Parameter extends Referable {
  name: string
  required?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}

interface Content {
  examples?: Record<string, { value: unknown }>
}

interface ApiResponse extends Referable {
  description: string
  content?: Record<string, Content>
}

interface Operation {
  summary: string
  description?: string
  parameters?: readonly Parameter[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, ApiResponse>
}

/** The parts of the OpenAPI document that the tab shows. */
interface Description {
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
}

/** An endpoint, and the document with what it refers to. */
interface Endpoint {
  method: string
  path: string
  operation: Operation
  document: Description
}

/**
 * Shows the description of the API in `box`: every endpoint with a form to try it, and the errors.
 *
 * @throws {Error} if the OpenAPI document cannot be loaded
 */
export async function createApiTab(box: HTMLElement, api: Api): Promise<void> {
  const response = await fetch(`${api.base}/v1/openapi.json`, { headers: api.keyHeader() })
  if (!response.ok) throw new Error(`status ${response.status}`)
  const document: Description = await response.json()
  const endpoints = endpointsOf(document)
  box.replaceChildren(...endpoints.map((endpoint) => article(endpoint, api)), errorTable(endpoints))
}

function endpointsOf(document: Description): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method === 'get' || method === 'post')
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
        document,
      })),
  )
}

/** Returns `value`, or what it refers to. */
function resolve<Value extends Referable>(value: Value, document: Description): Value {
  if (value.$ref === undefined) return value
  const keys = value.$ref.split('/').slice(1)
  return keys.reduce((part, key) => Reflect.get(part, key), Object(document))
}

function article(endpoint: Endpoint, api: Api): HTMLElement {
  const { method, path, operation } = endpoint
  const title = make('h2', make('code', `${method} ${path}`), ' ', operation.summary)
  const details = make('details', make('summary', title))
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) {
      details.append(
        make('p', ...prose(operation.description ?? '')),
        ...tryForm(endpoint, api),
        responseTable(endpoint),
      )
    }
  })
  return make('article', details)
}

/** Returns text with its parts in backticks as code. */
function prose(text: string): (Node | string)[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? make('code', part) : part))
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Creates the form of an endpoint, and its foot: the request as typed, which can be copied, and the response to it. */
function tryForm(endpoint: Endpoint, api: Api): HTMLElement[] {
  const { operation, document, method, path } = endpoint
  const parameters = (operation.parameters ?? []).map((each) => resolve(each, document))
  const controls = parameters.map((parameter) => controlOf(parameter))
  const body = bodyFields(operation)
  const form = make(
    'form',
    ...parameters.map((parameter, index) => fieldOf(parameter, controls[index])),
    ...body.fields,
    make('button', `Send ${method}`),
  )
  form.autocomplete = 'off'
  const foot = createFoot(method, api)
  let request = typedRequest()

  function typedRequest(): HttpRequest {
    const set = controls.map(({ name, value }) => [name, value]).filter(([, value]) => value)
    const query = new URLSearchParams(set).toString().replaceAll('%2C', ',')
    return { url: `${location.origin}${api.base}${path}${query && `?${query}`}`, body: body.read() }
  }
  function edit(): void {
    request = typedRequest()
    foot.ask(request)
  }
  async function send(): Promise<void> {
    const sent = request
    const { url, body } = sent
    form.ariaBusy = 'true'
    let response: Exchange | string = 'The service cannot be reached'
    try {
      const headers = { ...api.keyHeader(), ...(body && { 'content-type': body.type }) }
      response = await exchange(new Request(url, { method, headers, body: body?.text ?? null }))
    } catch {
      // The text above.
    }
    form.ariaBusy = 'false'
    // A response must not stand below another request.
    if (request === sent) foot.answer(sent, response)
  }
  form.addEventListener('input', edit)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send()
  })
  edit()
  return [form, foot.element]
}

/** Creates the foot of an endpoint, as panels have it, without the forms of copies that it cannot have. */
function createFoot(method: string, api: Api) {
  const element = make('div', copyOf('foot'))
  const isPost = method === 'POST'
  const without = `.origin, [data-form=client], [data-form=cli]${isPost ? ', [data-form=url]' : ''}`
  for (const part of element.querySelectorAll(without)) part.remove()
  const line = find('.asked', HTMLAnchorElement, element)
  const outcome = find('.copied', HTMLElement, element)
  find('.facts', HTMLElement, element).role = 'status'
  const tools = createHttpTools(element, api)
  find('.copies', HTMLElement, element).addEventListener('click', ({ target }) => {
    if (target instanceof HTMLButtonElement) void tools.copy(target.dataset['form'])
  })
  return {
    element,
    ask(request: HttpRequest): void {
      line.textContent = `${method} ${request.url.slice(location.origin.length)}`
      if (!isPost) line.href = request.url
      outcome.textContent = ''
      tools.show(request)
    },
    answer(request: HttpRequest, response: Exchange | string): void {
      tools.show(request, response)
      find('.response', HTMLDetailsElement, element).open = true
    },
  }
}

/** Returns a scalar value as text; an empty text for none. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}

function controlOf({ name, schema = {}, example, required = false }: Parameter): Control {
  const choices = schema.type === 'boolean' ? ['true', 'false'] : schema.enum
  const control = choices ? selectOf(['', ...choices]) : make('input')
  control.name = name
  control.required = required
  if (required) control.value = textOf(example)
  else if (control instanceof HTMLInputElement) {
    control.placeholder = textOf(schema.default)
    control.spellcheck = false
  }
  return control
}

function selectOf(values: readonly string[]): HTMLSelectElement {
  return make('select', ...values.map((value) => make('option', value)))
}

function fieldOf({ name, required, description = '' }: Parameter, control?: Control): HTMLElement {
  const title = make('span', make('code', name), required ? ' (required)' : '')
  const about = make('small', ...prose(description))
  const label = make('label', title, ...(control ? [control] : []))
  return make('div', label, about)
}

/** Creates the fields for a request body, with an example; none where the operation takes none. */
function bodyFields({ requestBody }: Operation): {
  fields: HTMLElement[]
  read(): HttpRequest['body']
} {
  if (!requestBody) return { fields: [], read: () => undefined }
  const { content } = requestBody
  const type = selectOf(Object.keys(content))
  const area = make('textarea')
  area.spellcheck = false
  function fill(): void {
    const [example] = Object.values(content[type.value]?.examples ?? {})
    const value = example?.value ?? ''
    area.value = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  }
  // Before the input event reaches the form, which reads the body.
  type.addEventListener('input', fill)
  fill()
  return {
    fields: [make('label', 'Content-Type', type), make('label', 'Body', area)],
    read: () => ({ type: type.value, text: area.value }),
  }
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const head = heads.map((text) => {
    const cell = make('th', text)
    cell.scope = 'col'
    return cell
  })
  const body = rows.map(([first = '', ...others]) => {
    const cell = make('th', make('code', first))
    cell.scope = 'row'
    return make('tr', cell, ...others.map((text) => make('td', ...prose(text))))
  })
  const table = make('table', make('thead', make('tr', ...head)), make('tbody', ...body))
  const scroll = make('div', table)
  scroll.className = 'scroll'
  scroll.tabIndex = 0
  scroll.role = 'group'
  scroll.ariaLabel = heads.join(', ')
  return scroll
}

function responseTable({ operation, document }: Endpoint): HTMLElement {
  const rows = Object.entries(operation.responses).map(([status, response]) => [
    status,
    resolve(response, document).description,
  ])
  return make('div', make('h3', 'Responses'), tableOf(['Status', 'Meaning'], rows))
}

/** Returns a table of the codes of all errors by status, with an example of each. */
function errorTable(endpoints: readonly Endpoint[]): HTMLElement {
  const rows = new Map<string, string[]>()
  for (const { operation, document } of endpoints) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const { content } = resolve(response, document)
      for (const { value } of Object.values(content?.['application/json']?.examples ?? {})) {
        const { code, message } = Object(Object(value).error)
        if (typeof code === 'string') rows.set(code, [code, status, String(message)])
      }
    }
  }
  const sorted = [...rows.values()].toSorted(([, one = ''], [, other = '']) =>
    one.localeCompare(other),
  )
  const table = tableOf(['Code', 'Status', 'Example of a message'], sorted)
  return make('article', make('h2', 'Errors'), table)
}
