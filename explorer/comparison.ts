import { comparedIn } from './compared.ts'
import type { ComparisonField } from './comparison-field.ts'
import { find } from './dom.ts'
import type { Choices, View } from './dom.ts'
import type { PageApi } from './page-api.ts'

/** The comparison in the chart, whose field is loaded when it is used. */
export interface Comparison {
  show(view: View, choices: Choices): void
}

/** Creates the comparison; calls `choose` with the codes, separated by commas. */
export function createComparison(
  { loadMore }: Pick<PageApi, 'loadMore'>,
  choose: (compare: string) => void,
): Comparison {
  const field = find('#compare', HTMLInputElement)
  let shown: Parameters<Comparison['show']> | undefined
  let loading: ReturnType<PageApi['loadMore']> | undefined
  let loaded: ComparisonField | undefined

  async function load(): Promise<void> {
    loading ??= loadMore()
    try {
      const { createComparisonField } = await loading
      if (loaded) return
      loaded = createComparisonField(choose)
      if (shown) loaded.show(...shown)
    } catch (error) {
      loading = undefined
      find('#chart-state', HTMLElement).textContent = String(error)
    }
  }
  async function add(text: string): Promise<void> {
    await load()
    if (loaded) loaded.add(text)
    else field.value ||= text
  }

  field.addEventListener('focus', () => void load())
  find('#comparison', HTMLElement).addEventListener('submit', (event) => {
    event.preventDefault()
    const text = field.value.trim()
    // Taken at once, so that one can type the next while the field is loaded.
    field.value = ''
    if (text !== '') void add(text)
  })
  return {
    show(...next) {
      shown = next
      if (loaded) loaded.show(...next)
      else if (comparedIn(next[0]).length > 0) void load()
    },
  }
}
