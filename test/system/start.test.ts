import { pathToFileURL } from 'node:url'

import { describe, expect, it } from 'vitest'

import { CLI, rootOf } from './commands.ts'
import { start } from './processes.ts'
import type { Running } from './processes.ts'
import { ROOT } from './runtimes.ts'

const RECORD = pathToFileURL(`${ROOT}/test/system/module-record.ts`).href

const HEAVY = ['internal/deps/undici/undici', 'crypto', 'http2', 'tls', 'zlib']

function startRecorded(args: string[]): Running {
  return start(process.execPath, ['--import', RECORD, ...args])
}

async function loadedBy(running: Running) {
  await running.exited
  const [, json = '{}'] = /^loaded (.*)$/m.exec(running.stderr) ?? []
  const { files, builtins }: { files: string[]; builtins: string[] } = JSON.parse(json)
  return {
    files: files.map((url) => url.replace(pathToFileURL(ROOT).href, '')),
    builtins: builtins.map((name) => name.replace('NativeModule ', '')),
  }
}

async function loadedByProgram(handler: string) {
  const program = `import { once } from 'node:events'
    import { createServer, get } from 'node:http'
    import { createRatesHandler } from 'ratesmith'
    import { toNodeHandler } from 'ratesmith/node'
    import { fakeProviders } from 'ratesmith/testing'
    const handler = createRatesHandler({ providers: fakeProviders() })
    const server = createServer(toNodeHandler(${handler})).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const path = '/api/v1/convert?from=USD&to=EUR'
    const [response] = await once(get({ port: server.address().port, path }), 'response')
    process.exit(response.statusCode === 200 ? 0 : 1)`
  const running = startRecorded(['--input-type=module', '--eval', program])
  expect(await running.exited, running.stderr).toBe(0)
  return loadedBy(running)
}

describe('the command loads only what it needs', () => {
  it('for --version: no server', async () => {
    const { files, builtins } = await loadedBy(startRecorded([CLI, '--version']))
    expect(files).toContain('dist/cli.js')
    expect(files.length).toBeLessThan(6)
    expect(builtins).not.toContain('_http_server')
  })

  it('for serve --demo: no file of another package, and no slow Node module', async () => {
    const running = startRecorded([CLI, 'serve', '--demo', '--port', '0'])
    const response = await fetch(`${await rootOf(running)}/api/v1/convert?from=USD&to=EUR`)
    expect(response.status).toBe(200)
    running.process.kill('SIGTERM')
    const { files, builtins } = await loadedBy(running)
    expect(files.filter((file) => !/^dist\/cli[./]/.test(file))).toEqual([])
    // The command and the server, each with what others share: not a file for each combination of modules on demand.
    expect(files.length).toBeLessThan(8)
    expect(builtins).toContain('_http_server')
    expect(builtins.filter((name) => HEAVY.includes(name))).toEqual([])
  })
})

describe('the adapter for Node', () => {
  const isBridge = (file: string): boolean => file.includes('node_modules/@whatwg-node/')

  it('does not load @whatwg-node/server for a handler with answer()', async () => {
    const { files } = await loadedByProgram('handler')
    expect(files).toContain('dist/node.js')
    expect(files.filter(isBridge)).toEqual([])
  })

  it('loads it for any other handler', async () => {
    const { files } = await loadedByProgram('(request) => handler(request)')
    expect(files.filter(isBridge)).not.toEqual([])
  })

  it('closes the connection if it cannot be loaded, and continues', async () => {
    const program = `import { createServer } from 'node:http'
      import { registerHooks } from 'node:module'
      import { toNodeHandler } from 'ratesmith/node'
      registerHooks({
        resolve(specifier, context, nextResolve) {
          if (specifier === '@whatwg-node/server') throw new Error('not installed')
          return nextResolve(specifier, context)
        },
      })
      const server = createServer(toNodeHandler(() => new Response('here')))
      server.listen(0, '127.0.0.1', () => {
        console.log('listens on http://127.0.0.1:' + server.address().port)
      })`
    const running = start(process.execPath, ['--input-type=module', '--eval', program])
    const root = await rootOf(running)
    for (const path of ['/', '/again']) {
      await expect(fetch(root + path)).rejects.toThrow('fetch failed')
    }
    expect(running.process.exitCode).toBeNull()
    expect(running.stderr).toBe('')
  })
})
