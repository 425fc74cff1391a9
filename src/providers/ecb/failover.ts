import type { DaySpan } from '../../rates/dates.ts'
import type { HistoryDays, ProviderContext } from '../../upstream/provider.ts'

export { fetchEcbRows } from './frankfurter-rows.ts'

export async function fetchFromBank(
  range: DaySpan,
  context: ProviderContext,
): Promise<HistoryDays> {
  const { createEcbProvider } = await import('../ecb.ts')
  const { attribution, fetchHistory } = createEcbProvider()
  return { ...(await fetchHistory(range, context)), attribution }
}
