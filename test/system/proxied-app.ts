import { onTestFinished } from 'vitest'

import { startChild } from './child.ts'
import type { Child } from './child.ts'
import { makeOlder, readKept, settled } from './nginx-cache.ts'
import type { Kept } from './nginx-cache.ts'
import { documentedConfiguration, startNginx } from './nginx.ts'
import type { Asked, HandlerName } from './origin-program.ts'

/** An answer that has come through nginx; `from` is what nginx says of its cache. */
export interface Seen {
  status: number
  from: string | null
  headers: Headers
  body: string
}

/** An app behind nginx, each in a process of its own. */
export interface ProxiedApp {
  /** The process of the app. */
  app: Child
  /** Asks through nginx. */
  ask(target: string, init?: RequestInit): Promise<Seen>
  /** What has reached the app. */
  asked(): Promise<Asked[]>
  /** Gives the app another handler. */
  become(name: HandlerName): Promise<void>
  /** What nginx keeps. */
  kept(): Kept[]
  /** Makes all of it so many seconds older. */
  makeOlder(seconds: number): void
}

/** Starts an app behind nginx with the documented configuration, changed by `change`; both end with the test. */
export async function startProxiedApp(
  change: (configuration: string) => string = (configuration) => configuration,
): Promise<ProxiedApp> {
  const app = startChild({ program: 'test/system/origin-program.ts', settings: {} })
  onTestFinished(() => app.kill())
  const { url: appUrl }: { url: string } = JSON.parse(await app.firstLine)
  const { url, cache } = await startNginx(change(documentedConfiguration()), appUrl)
  return {
    app,
    async ask(target, init) {
      const response = await fetch(url + target, init)
      const { status, headers } = response
      const body = await response.text()
      await settled(cache)
      return { status, from: headers.get('x-cache-status'), headers, body }
    },
    async asked() {
      const asked: Asked[] = JSON.parse(await (await fetch(`${appUrl}/asked`)).text())
      return asked
    },
    async become(name) {
      await fetch(`${appUrl}/become/${name}`)
    },
    kept: () => readKept(cache),
    makeOlder: (seconds) => makeOlder(cache, seconds),
  }
}
