// Serves the handler of a scene with the adapter of the runtime that runs this program: `host-program.ts TREE SCENE`.
import { serveOn } from './doors.ts'
import { SCENES } from './questions.ts'
import { openTree } from './tree.ts'
import { createWorld, installClock } from './worlds.ts'

const [root = '.', name] = process.argv.slice(2)
const scene = SCENES.find((each) => each.name === name)
if (!scene) throw new Error(`no scene ${name}`)
installClock()
try {
  const world = await createWorld(openTree(root), scene.world)
  const { port } = await serveOn('Bun' in globalThis ? 'bun' : 'deno', world)
  process.stdout.write(`${JSON.stringify({ port })}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ absent: String(error) })}\n`)
  process.exit()
}
