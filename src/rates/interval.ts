/** What points stand for: every published day, or the last one of each week (Monday to Sunday) or month. */
export type Interval = 'day' | 'week' | 'month'

/** Every interval, shortest first. */
export const INTERVALS: readonly Interval[] = ['day', 'week', 'month']
