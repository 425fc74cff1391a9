// Any Node with ES modules must be able to parse this file, to print which one is needed: the rest is imported dynamically.
import type { CommandContext } from './context.ts'

/** As `engines` of package.json has it, which would take longer to read. */
const NEEDED_NODE = '22.15'

/** Runs the command line `args` (without the names of runtime and program) and resolves to its exit code. */
export async function runCommand(args: string[], context: CommandContext): Promise<number> {
  const { node, bun, deno } = context.versions
  // Bun and Deno have a `versions.node` too.
  if (node !== undefined && !bun && !deno && isOlder(node, NEEDED_NODE)) {
    context.stderr.write(`ratesmith needs Node ${NEEDED_NODE} or newer, found ${node}\n`)
    return 1
  }
  const { dispatch } = await import('./dispatch.ts')
  return dispatch(args, context)
}

/** Whether `version`, numbers with dots between, is older than `needed`. */
function isOlder(version: string, needed: string): boolean {
  const numbers = version.split('.').map(Number)
  for (const [index, number] of needed.split('.').map(Number).entries()) {
    const own = numbers[index] ?? 0
    if (own !== number) return own < number
  }
  return false
}
