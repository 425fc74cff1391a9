import { copyOf, find } from './elements.ts'
import type { Failure } from './failure.ts'

/** The error message of a panel. */
export interface Notice {
  show(failure: Failure): void
  clear(): void
}

/** Creates the notice of `section`; its button calls `retry`. */
export function createNotice(section: HTMLElement, retry: () => void): Notice {
  find('.data', HTMLElement, section).before(copyOf('notice'))
  const box = find('.notice', HTMLElement, section)
  const message = find('[role=alert]', HTMLElement, box)
  message.id = `${section.id}-notice`
  const waiting = find('.waiting', HTMLElement, box)
  find('button', HTMLButtonElement, box).addEventListener('click', retry)
  return {
    show({ message: text, retryAfter, isFinal }) {
      box.hidden = false
      // Setting the same text again would make screen readers repeat it.
      if (message.textContent !== text) message.textContent = text
      find('.retry', HTMLElement, box).hidden = isFinal
      waiting.textContent = retryAfter === undefined ? '' : `Retrying in ${retryAfter} s`
    },
    clear() {
      box.hidden = true
      message.textContent = ''
    },
  }
}
