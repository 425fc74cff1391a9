// Serves the handler as its settings select, and prints the port.
import { reportToParent, settingsFromParent } from '../system/child.ts'
import { createConformanceHandler } from './market.ts'
import { MOUNTS } from './mounts.ts'

/** Settings of this program. */
export interface HostSettings {
  mount: keyof typeof MOUNTS
  basePath: string
}

const { mount, basePath }: HostSettings = JSON.parse(settingsFromParent())
// No response needs to change it. Not on Node, which fails on headers named like its properties, as frameworks may.
if (mount === 'serveBun' || mount === 'serveDeno') Object.freeze(Object.prototype)
reportToParent({ port: await MOUNTS[mount](createConformanceHandler(basePath)) })
