export interface Random extends ReturnType<typeof createSequence> {
  fork(name: string): Random
}

export function createRandom(seed: string): Random {
  return { ...createSequence(seed), fork: (name) => createRandom(`${seed}/${name}`) }
}

function createSequence(seed: string) {
  const next = smallFastCounter(seed)
  return {
    next,
    chance: (share: number) => next() < share,
    between: (least: number, most: number) => least + next() * (most - least),
    /** Between the two, with every order of magnitude equally likely. */
    magnitude: (least: number, most: number) => least * (most / least) ** next(),
    whole: (least: number, most: number) => least + Math.floor(next() * (most - least + 1)),
    wait: (mean: number) => -Math.log(1 - next()) * mean,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[Math.floor(next() * items.length)]
      if (item === undefined) throw new Error('cannot pick from an empty list')
      return item
    },
    some: <Item>(items: readonly Item[], share: number) => items.filter(() => next() < share),
  }
}

/** Returns the generator sfc32 (Chris Doty-Humphrey, PractRand), seeded by four hashes of `seed`. */
function smallFastCounter(seed: string): () => number {
  let [a, b, c, counter] = [hash(seed, 1), hash(seed, 2), hash(seed, 3), 1]
  const next = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 4_294_967_296
  }
  for (let warmUp = 0; warmUp < 12; warmUp += 1) next()
  return next
}

/** Returns a 32-bit hash of `text`, a different one for every `salt`. */
export function hash(text: string, salt = 0): number {
  let mixed = 0x811c9dc5 ^ Math.imul(salt, 0x9e3779b1)
  for (let index = 0; index < text.length; index += 1) {
    mixed = Math.imul(mixed ^ text.charCodeAt(index), 0x01000193)
  }
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}
