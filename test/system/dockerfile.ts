/** What an image is told at the end of its building. */
const SETTINGS = ['USER', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT'] as const

const INSTRUCTIONS = ['WORKDIR', 'COPY', 'RUN', ...SETTINGS] as const

/** One instruction of a Dockerfile, with what stands behind it on one line. */
export interface Step {
  instruction: (typeof INSTRUCTIONS)[number]
  text: string
}

/** What stands between one `FROM` and the next. */
export interface Stage {
  base: string
  /** How later stages call it; the last has none. */
  name: string | undefined
  steps: Step[]
}

/**
 * Reads a Dockerfile: comments, lines that are continued, and the instructions that ours needs.
 *
 * @throws {Error} for any other instruction
 */
export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .replace(/^\s*(#.*)?\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .trimEnd()
    .split('\n')
  const stages: Stage[] = []
  for (const line of lines) {
    const [, word = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    const instruction = INSTRUCTIONS.find((each) => each === word)
    if (word === 'FROM') stages.push(parseFrom(rest))
    else if (!instruction) throw new Error(`cannot read ${line}`)
    else stages.at(-1)?.steps.push({ instruction, text: rest })
  }
  return stages
}

function parseFrom(text: string): Stage {
  const [, base, name] = /^(\S+)(?: AS (\S+))?$/.exec(text) ?? []
  if (base === undefined) throw new Error(`cannot read FROM ${text}`)
  return { base, name, steps: [] }
}

/** What the last `instruction` of `stage` says. */
export function setting({ steps }: Stage, instruction: (typeof SETTINGS)[number]): string {
  const step = steps.findLast((each) => each.instruction === instruction)
  if (!step) throw new Error(`there is no ${instruction}`)
  return step.text
}

/**
 * The words of a command that is started without a shell.
 *
 * @throws {Error} for one that would need a shell, which would take its signals
 */
export function execForm(text: string): string[] {
  const words: unknown = JSON.parse(text)
  if (!Array.isArray(words)) throw new Error(`not a list: ${text}`)
  return words.map(String)
}

/** Whether `.dockerignore` keeps a name at the top of the project out of the image. Folders go or stay as a whole. */
export function isIgnored(dockerignore: string, name: string): boolean {
  let isIgnored = false
  for (const line of dockerignore.split('\n')) {
    const [, except, pattern] = /^(!?)(\*|[\w.-]+)$/.exec(line) ?? []
    if (pattern === '*' || pattern === name) isIgnored = except === ''
    else if (pattern === undefined && !/^(#.*)?$/.test(line)) throw new Error(`cannot read ${line}`)
  }
  return isIgnored
}
