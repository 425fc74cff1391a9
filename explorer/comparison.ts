import { find, make } from './dom.ts'
import type { Choices, View } from './dom.ts'

const MAX_COMPARED = 3

/** Returns the codes to compare with `to`, at most three. */
export function comparedIn({ from, to, compare }: View): string[] {
  const codes = new Set(compare.split(',').filter(Boolean))
  return [...codes].filter((code) => code !== from && code !== to).slice(0, MAX_COMPARED)
}

/** The field that adds currencies to the chart, and the legend that removes them. */
export interface Comparison {
  show(view: View, choices: Choices): void
}

/** Creates the comparison; calls `choose` with the codes, separated by commas. */
export function createComparison(choose: (compare: string) => void): Comparison {
  const field = find('#compare', HTMLInputElement)
  const state = find('#chart-state', HTMLElement)
  const legend = find('#legend', HTMLElement)
  let listed: Choices | undefined
  let current: { view: View; choices: Choices } | undefined

  find('#comparison', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault()
    const code = field.value.trim().toUpperCase()
    if (!current || code === '') return
    const { view, choices } = current
    const refusal = refusalOf(code, view, choices)
    state.textContent = refusal
    if (refusal !== '') return
    field.value = ''
    choose([...comparedIn(view), code].join())
  })
  return {
    show(view, choices) {
      current = { view, choices }
      if (listed !== choices) {
        listed = choices
        find('#codes', HTMLDataListElement).replaceChildren(...optionsOf(choices))
      }
      const codes = comparedIn(view)
      let colour = 0
      const entries = codes.map((code) => {
        const isMissing = choices.coverage?.whyNone(view.from, code) !== undefined
        const remove = make('button', '×')
        remove.type = 'button'
        remove.ariaLabel = `Remove ${code}`
        remove.addEventListener('click', () => {
          choose(codes.filter((each) => each !== code).join())
          field.focus()
        })
        const entry = make('span', code, isMissing ? ' (no daily history)' : '', remove)
        entry.className = isMissing ? '' : `s${(colour += 1)}`
        return entry
      })
      const first = make('span', view.to)
      first.className = 's0'
      legend.replaceChildren(...(codes.length > 0 ? [first, ...entries] : []))
    },
  }
}

function refusalOf(code: string, view: View, { coverage }: Choices): string {
  const compared = comparedIn(view)
  if ([view.from, view.to, ...compared].includes(code)) return `${code} is in the chart`
  if (compared.length === MAX_COMPARED) return `At most ${MAX_COMPARED} currencies`
  return coverage?.whyNone(view.from, code) ?? ''
}

function optionsOf({ codes, names, coverage }: Choices): HTMLOptionElement[] {
  return codes
    .filter((code) => coverage?.whyNone(code, code) === undefined)
    .map((code) => {
      const option = make('option', names.get(code) ?? '')
      option.value = code
      return option
    })
}
