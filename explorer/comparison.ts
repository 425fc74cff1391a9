import type { Api } from './page-api.ts'
import { find, make } from './dom.ts'
import type { Choices, View } from './dom.ts'

const MAX_COMPARED = 3

interface Shown {
  view: View
  choices: Choices
}

export function comparedIn({ from, to, compare }: View): string[] {
  const codes = new Set(compare.split(',').filter(Boolean))
  return [...codes].filter((code) => code !== from && code !== to).slice(0, MAX_COMPARED)
}

/** Creates the field that adds currencies to the chart, and the legend that removes them; both call `choose`. */
export function createComparison(
  { loadMore }: Pick<Api, 'loadMore'>,
  choose: (compare: string) => void,
) {
  const field = find('#compare', HTMLInputElement)
  const state = find('#chart-state')
  let current: Shown | undefined

  async function add(text: string): Promise<void> {
    let refusal: string
    try {
      const { searchAmong } = await loadMore()
      if (!current) return
      const { choices, view } = current
      const code = searchAmong(choices).exact(text) ?? text.toUpperCase()
      refusal = refusalOf(code, current)
      if (refusal === '') choose([...comparedIn(view), code].join())
    } catch (error) {
      refusal = String(error)
    }
    state.textContent = refusal
    if (refusal !== '') field.value ||= text
  }

  find('#comparison').addEventListener('submit', (event) => {
    event.preventDefault()
    const text = field.value.trim()
    // Taken at once, so that one can type the next while the search is loaded.
    field.value = ''
    if (text !== '') void add(text)
  })
  return {
    show(view: View, choices: Choices): void {
      if (choices !== current?.choices) {
        find('#codes', HTMLDataListElement).replaceChildren(...optionsOf(choices))
      }
      current = { view, choices }
      const entries = legendOf(current, (codes) => {
        choose(codes)
        field.focus()
      })
      find('#legend').replaceChildren(...entries)
    },
  }
}

function legendOf({ view, choices }: Shown, choose: (compare: string) => void): HTMLElement[] {
  const codes = comparedIn(view)
  if (codes.length === 0) return []
  let colour = 0
  const entries = codes.map((code) => {
    const isMissing = choices.coverage?.whyNone(view.from, code) !== undefined
    const remove = make('button', { type: 'button', ariaLabel: `Remove ${code}` }, '×')
    remove.addEventListener('click', () => choose(codes.filter((each) => each !== code).join()))
    const text = isMissing ? `${code} (no daily history)` : code
    return make('span', { className: isMissing ? '' : `s${(colour += 1)}` }, text, remove)
  })
  return [make('span', { className: 's0' }, view.to), ...entries]
}

function refusalOf(code: string, { view, choices: { coverage } }: Shown): string {
  const compared = comparedIn(view)
  if ([view.from, view.to, ...compared].includes(code)) return `${code} is in the chart`
  if (compared.length === MAX_COMPARED) return `At most ${MAX_COMPARED} currencies`
  return coverage?.whyNone(view.from, code) ?? ''
}

function optionsOf({ codes, currencies, coverage }: Choices): HTMLOptionElement[] {
  return codes
    .filter((code) => coverage?.whyNone(code, code) === undefined)
    .map((code) => new Option(currencies.get(code)?.name ?? '', code))
}
