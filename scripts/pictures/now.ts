/** The time in the pictures: a Friday evening, after the reference rates of the day. */
export const NOW: number = Date.UTC(2026, 10, 20, 18)
