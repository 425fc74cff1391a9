import { copyOf, find } from './elements.ts'
import type { Failure } from './failure.ts'

/** The place of a panel where failures are told. */
export interface Notice {
  show(failure: Failure): void
  clear(): void
}

/** The notice of `section`; `again` is called by whoever wants to try again. */
export function createNotice(section: HTMLElement, again: () => void): Notice {
  find('.data', HTMLElement, section).before(copyOf('notice'))
  const box = find('.notice', HTMLElement, section)
  const message = find('[role=alert]', HTMLElement, box)
  message.id = `${section.id}-notice`
  const waiting = find('.waiting', HTMLElement, box)
  find('button', HTMLButtonElement, box).addEventListener('click', again)
  return {
    show({ message: text, retryAfter, isFinal }) {
      box.hidden = false
      // The same again would be read out again.
      if (message.textContent !== text) message.textContent = text
      find('.retry', HTMLElement, box).hidden = isFinal
      waiting.textContent =
        retryAfter === undefined ? '' : `Asks again by itself in ${retryAfter} s.`
    },
    clear() {
      box.hidden = true
      message.textContent = ''
    },
  }
}
