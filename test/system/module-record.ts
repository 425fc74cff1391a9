// Loaded before a program (`--import`): when that ends, writes to its stderr what it has loaded, as a line of JSON.
import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

const files: string[] = []

registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) files.push(url)
    return nextLoad(url, context)
  },
})

// Modules of Node count where something asked for them, whoever it was.
const { moduleLoadList = [] }: { moduleLoadList?: string[] } = Object(process)
const loadedBefore = new Set(moduleLoadList)

process.on('exit', () => {
  const builtins = moduleLoadList.filter((name) => !loadedBefore.has(name))
  writeSync(2, `loaded ${JSON.stringify({ files, builtins })}\n`)
})
