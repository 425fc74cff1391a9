/** What can be asked of the API, as any client of it can. */
export type Operation = 'latest' | 'convert' | 'history'

/** One question. */
export interface ApiRequest {
  operation: Operation
  /** As they are sent; an amount is as it was typed. */
  parameters: Record<string, string>
}

/** How a question can be told to others. */
export type Form = 'curl' | 'fetch' | 'client'

/** The path and query of `question`, below the base path `base`. */
export function pathOf(base: string, { operation, parameters }: ApiRequest): string {
  return `${base}/v1/${operation}?${new URLSearchParams(parameters).toString()}`
}

/** How to ask `question` of the API whose base URL is `baseUrl`, from a shell or a program. */
export function snippetOf(form: Form, baseUrl: string, question: ApiRequest): string {
  // Both a shell and a script would take it for the end of the text.
  const [quoted = '', quotedBase = ''] = [pathOf(baseUrl, question), baseUrl].map(
    (url) => `'${url.replaceAll("'", '%27')}'`,
  )
  if (form === 'curl') return `curl ${quoted}`
  if (form === 'fetch') return `await (await fetch(${quoted})).json()`
  return [
    "import { createRatesClient } from 'ratesmith/client'",
    '',
    `const rates = createRatesClient({ baseUrl: ${quotedBase} })`,
    `await rates.${question.operation}({ ${argumentsOf(question)} })`,
  ].join('\n')
}

function argumentsOf({ parameters }: ApiRequest): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}: ${name === 'amount' ? amountOf(value) : textOf(value)}`)
    .join(', ')
}

/** A client takes amounts as numbers; what is none stays as it was typed. */
function amountOf(typed: string): string {
  const amount = Number(typed)
  return typed.trim() !== '' && Number.isFinite(amount) ? String(amount) : textOf(typed)
}

function textOf(value: string): string {
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
