/** Distance of points: every published day, or the last one of each week (Monday to Sunday) or month. */
export type Interval = 'day' | 'week' | 'month'

/** All intervals, shortest first. */
export const INTERVALS: readonly Interval[] = ['day', 'week', 'month']
