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
  let shown: Parameters<Comparison['show']> | undefined
  let loading: Promise<ComparisonField> | undefined

  async function load(): Promise<void> {
    loading ??= loadMore().then((more) => more.createComparisonField(choose))
    try {
      const field = await loading
      if (shown) field.show(...shown)
    } catch (error) {
      loading = undefined
      find('#chart-state', HTMLElement).textContent = String(error)
    }
  }
  async function add(): Promise<void> {
    await load()
    const field = await loading
    field?.add()
  }

  find('#compare', HTMLElement).addEventListener('focus', () => void load())
  find('#comparison', HTMLElement).addEventListener('submit', (event) => {
    event.preventDefault()
    void add()
  })
  return {
    show(...next) {
      shown = next
      if (loading || comparedIn(next[0]).length > 0) void load()
    },
  }
}
