// Preloaded into a program (`--import`): at its end, writes the loaded modules to stderr, as a line of JSON.
import { registerHooks } from 'node:module'

// An import would load the file streams and promises of Node, which the record could then not contain.
const { writeSync } = process.getBuiltinModule('node:fs')

const files: string[] = []

registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) files.push(url)
    return nextLoad(url, context)
  },
})

// A Node module counts if anything imported it.
const { moduleLoadList = [] }: { moduleLoadList?: string[] } = Object(process)
const loadedBefore = new Set(moduleLoadList)

process.on('exit', () => {
  const builtins = moduleLoadList.filter((name) => !loadedBefore.has(name))
  writeSync(2, `loaded ${JSON.stringify({ files, builtins })}\n`)
})
