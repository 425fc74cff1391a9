// Serves the handler in the way that its settings name, and prints the port.
import { settingsFromParent, tellParent } from '../system/child.ts'
import { createConformanceHandler } from './market.ts'
import { MOUNTS } from './mounts.ts'

/** How the handler is to be served. */
export interface HostSettings {
  mount: keyof typeof MOUNTS
  basePath: string
}

const { mount, basePath }: HostSettings = JSON.parse(settingsFromParent())
// No response needs to change it. Node itself fails on headers with the names of its properties, and frameworks may.
if (mount === 'serveBun' || mount === 'serveDeno') Object.freeze(Object.prototype)
tellParent({ port: await MOUNTS[mount](createConformanceHandler(basePath)) })
