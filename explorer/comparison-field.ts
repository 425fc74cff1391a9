import { searchAmong } from './combobox.ts'
import { MAX_COMPARED, comparedIn } from './compared.ts'
import { find, make } from './dom.ts'
import type { Choices, View } from './dom.ts'

/** The field that adds currencies to the chart, and the legend that removes them. */
export interface ComparisonField {
  show(view: View, choices: Choices): void
  /** Adds the currency that a text from the field names; puts the text back if it cannot be added. */
  add(text: string): void
}

/** Creates the field; calls `choose` with the codes, separated by commas. */
export function createComparisonField(choose: (compare: string) => void): ComparisonField {
  const field = find('#compare', HTMLInputElement)
  const state = find('#chart-state', HTMLElement)
  const legend = find('#legend', HTMLElement)
  let listed: Choices | undefined
  let current: { view: View; choices: Choices } | undefined

  return {
    add(text) {
      if (!current) return
      const { view, choices } = current
      const code = searchAmong(choices).exact(text) ?? text.toUpperCase()
      const refusal = refusalOf(code, view, choices)
      state.textContent = refusal
      if (refusal !== '') field.value ||= text
      else choose([...comparedIn(view), code].join())
    },
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
