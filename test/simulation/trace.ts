import { hash } from './world/random.ts'

/** Everything that happened, boiled down to a number that two runs of one seed must agree on. */
export interface Trace {
  /** Something happened to `who` at `time` (ms of virtual time). `unseen` is not printed. */
  record(time: number, who: number, what: string, detail: string | number, unseen?: string): void
  /** 32 bits in hexadecimal. */
  digest(): string
}

/** An empty trace; `print`, where there is one, is given every line of it. */
export function createTrace(print: ((line: string) => void) | undefined): Trace {
  const names = new Map<string, number>()
  let state = 0x9e3779b9

  function mix(value: number): void {
    state = Math.imul(state ^ value, 0x01000193)
    state ^= state >>> 15
  }

  function nameOf(text: string): number {
    let name = names.get(text)
    if (name === undefined) names.set(text, (name = hash(text)))
    return name
  }

  return {
    record(time, who, what, detail, unseen) {
      mix(Math.floor(time * 16))
      mix(Math.floor(time / 65_536))
      mix(who)
      mix(nameOf(what))
      mix(typeof detail === 'number' ? detail : nameOf(detail))
      if (unseen !== undefined) mix(hash(unseen))
      print?.(`${toClock(time)} process ${who} ${what} ${detail}`)
    },
    digest: () => (state >>> 0).toString(16).padStart(8, '0'),
  }
}

/** `time` (ms) as `day 3 04:05:06.789`. */
export function toClock(time: number): string {
  const day = Math.floor(time / 86_400_000)
  return `day ${day} ${new Date(time - day * 86_400_000).toISOString().slice(11, 23)}`
}
