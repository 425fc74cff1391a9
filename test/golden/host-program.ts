// Serves the handler of a scene with the adapter of this runtime: `host-program.ts RUNTIME TREE SCENE`.
import { serveOn } from './doors.ts'
import { SCENES } from './questions.ts'
import { openTree } from './tree.ts'
import { createWorld, installClock } from './worlds.ts'

const [runtime = '', root = '', name] = process.argv.slice(2)
const scene = SCENES.find((each) => each.name === name)
if (!scene) throw new Error(`no scene ${name}`)
installClock()
try {
  const port = await serveOn(runtime, await createWorld(openTree(root), scene.world))
  process.stdout.write(`${JSON.stringify({ port })}\n`)
  // Ends with the program that asks.
  process.stdin.on('end', () => process.exit()).resume()
} catch (error) {
  process.stdout.write(`${JSON.stringify({ absent: String(error) })}\n`)
  process.exit()
}
