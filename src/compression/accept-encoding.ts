import { createBoundedMap } from '../http/bounded-map.ts'

/** The codings that are spoken; of two that a client likes equally, the first is taken. */
const ENCODINGS = ['br', 'gzip'] as const

/** A content coding by its registered name. */
export type Encoding = (typeof ENCODINGS)[number]

/** One coding and its weight; what is written otherwise counts as not said. No two parts of it match the same character. */
const ENTRY =
  /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i

/** How many characters of what clients accept are kept: there are few who differ. */
const CHARACTERS_KEPT = 4_096

/** `chooseEncoding`, which reads each text once. */
export function createEncodingChoice(): typeof chooseEncoding {
  const known = createBoundedMap<string, { encoding: Encoding | undefined }>(CHARACTERS_KEPT)
  return (acceptEncoding) => {
    if (!acceptEncoding) return undefined
    const before = known.get(acceptEncoding)
    if (before) return before.encoding
    const encoding = chooseEncoding(acceptEncoding)
    known.set(acceptEncoding, { encoding }, acceptEncoding.length)
    return encoding
  }
}

/**
 * The coding that `acceptEncoding` asks for, by RFC 9110 §12.5.3; undefined for the plain body, also where that is
 * refused and nothing else is left.
 */
export function chooseEncoding(acceptEncoding: string | null | undefined): Encoding | undefined {
  const weights = readWeights(acceptEncoding ?? '')
  const ofOthers = weights.get('*') ?? 0
  // Plain goes without saying: it is preferred only where it is given a weight.
  let heaviest = weights.get('identity') ?? ofOthers
  let chosen: Encoding | undefined
  for (const encoding of ENCODINGS) {
    const weight = weights.get(encoding) ?? ofOthers
    if (weight > heaviest || (!chosen && weight > 0 && weight === heaviest)) {
      heaviest = weight
      chosen = encoding
    }
  }
  return chosen
}

function readWeights(acceptEncoding: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const entry of acceptEncoding.split(',')) {
    const [, coding, weight = '1'] = ENTRY.exec(entry) ?? []
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight))
  }
  return weights
}
