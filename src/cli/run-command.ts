// Any Node with ES modules must be able to parse this file, to print which one is needed: the rest is imported dynamically.
import type { CommandContext } from './context.ts'

/** The same version as `engines` of package.json, which takes longer to read. */
const NEEDED_NODE = '22.18'

export async function runCommand(args: string[], context: CommandContext): Promise<number> {
  const { node, bun, deno } = context.versions
  // Bun and Deno also have `versions.node`.
  if (node !== undefined && !bun && !deno && isOlder(node, NEEDED_NODE)) {
    context.stderr.write(`ratesmith requires Node ${NEEDED_NODE} or newer, got ${node}\n`)
    return 1
  }
  const { dispatch } = await import('./commands.ts')
  return dispatch(args, context)
}

/** Compares major and minor numbers; the first comparison by `Intl` would take a tenth of the start. */
function isOlder(version: string, needed: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [neededMajor = 0, neededMinor = 0] = needed.split('.').map(Number)
  return major < neededMajor || (major === neededMajor && minor < neededMinor)
}
