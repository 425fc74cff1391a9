import { make } from './dom.ts'
import { FIRST_DAY, dayInWords, today } from './times.ts'

/**
 * Makes `input` a field for a day, which shows the day as the page writes days until it has the focus. `choose` receives each
 * whole day, `YYYY-MM-DD`.
 */
export function createDayField(
  input: HTMLInputElement,
  choose: (day: string) => void,
  /** Shown in the place of no day. */
  placeholder = '',
) {
  const text = make('span', { ariaHidden: 'true' })
  input.min = FIRST_DAY
  input.after(text)
  function write(): void {
    text.textContent = `${input.value ? dayInWords(input.value) : placeholder} ▾`
  }
  input.addEventListener('change', () => {
    // A year is incomplete while it is typed.
    if (input.value && input.validity.valid) choose(input.value)
    write()
  })
  input.addEventListener('click', () => {
    try {
      input.showPicker()
    } catch {
      // Digits can be typed.
    }
  })
  return {
    show(day: string): void {
      input.max = today()
      // Setting the same day again would end its editing.
      if (input.value !== day) input.value = day
      write()
    },
  }
}
