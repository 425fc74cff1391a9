import type { CommandContext } from './context.ts'
import { MCP_OPTIONS } from './flags.ts'
import { openSession } from './session.ts'
import { parseArguments } from './usage.ts'

/** Serves tools for agents on stdin and stdout until stdin ends. */
export async function mcp(args: string[], context: CommandContext): Promise<number> {
  const { values } = parseArguments({ args, options: MCP_OPTIONS })
  const { serveStdio } = await import('../mcp/index.ts')
  const { rates, close } = await openSession(values, context)
  const server = await serveStdio(rates)
  if (process.stdin.isTTY)
    context.stderr.write('ratesmith: waiting for messages of an agent; end with Ctrl+D\n')
  try {
    await server.closed
    return 0
  } finally {
    await server.close()
    close()
  }
}
