import { createBoundedMap } from '../http/bounded-map.ts'

/** The codings that are spoken; of two that a client likes equally, the first is taken. */
const ENCODINGS = ['br', 'gzip'] as const

/** A content coding by its registered name. */
export type Encoding = (typeof ENCODINGS)[number]

/** One coding and its weight; what is written otherwise counts as not said. No two parts of it match the same character. */
const ENTRY =
  /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i

/** How many characters of what clients accept are kept: there are few who differ. */
const MAX_CACHED_CHARACTERS = 4_096

/** What a client accepts; undefined is the plain body. */
export interface AcceptedEncodings {
  /** For a body that is sent often. */
  best: Encoding | undefined
  /** For a body that is sent once: never brotli, which takes longest. */
  fast: Exclude<Encoding, 'br'> | undefined
}

const PLAIN: AcceptedEncodings = { best: undefined, fast: undefined }

/** Creates a function that chooses the codings for a value of `Accept-Encoding`, and reads each value once. */
export function createEncodingChoice(): (
  acceptEncoding: string | null | undefined,
) => AcceptedEncodings {
  const known = createBoundedMap<string, AcceptedEncodings>(MAX_CACHED_CHARACTERS)
  return (acceptEncoding) => {
    if (!acceptEncoding) return PLAIN
    const before = known.get(acceptEncoding)
    if (before) return before
    const accepted = {
      best: chooseEncoding(acceptEncoding, ENCODINGS),
      fast: chooseEncoding(acceptEncoding, ['gzip']),
    }
    known.set(acceptEncoding, accepted, acceptEncoding.length)
    return accepted
  }
}

/**
 * The one of `encodings` that `acceptEncoding` asks for, by RFC 9110 §12.5.3; undefined for the plain body, also where that
 * is refused and nothing else is left.
 */
function chooseEncoding<Known extends Encoding>(
  acceptEncoding: string,
  encodings: readonly Known[],
): Known | undefined {
  const weights = readWeights(acceptEncoding)
  const ofOthers = weights.get('*') ?? 0
  // Plain goes without saying: it is preferred only where it is given a weight.
  let heaviest = weights.get('identity') ?? ofOthers
  let chosen: Known | undefined
  for (const encoding of encodings) {
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
