import { existsSync, readFileSync } from 'node:fs'
import { get } from 'node:http'

import { expect, it } from 'vitest'

import {
  createExchangeRateApiProvider,
  createFrankfurterProvider,
  createRatesHandler,
} from '../../src/index.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { listen, run } from './processes.ts'
import type { Running } from './processes.ts'
import { describeRuntimes } from './require-program.ts'
import { ROOT } from './root.ts'
import { CLI, rootOf, serve, upstreams } from './serving.ts'

const RECORDED = `${ROOT}/../shared/data/open-er-api/v6-latest-USD-2025-11-02.json`

const TARGETS = [
  '/api/v1/latest?base=EUR',
  '/api/v1/convert?from=USD&to=JPY&amount=0.1',
  '/api/v1/history?from=IDR&to=EUR&period=5Y',
  '/api/rates?base=GBP',
  '/api/convert?from=ISK&to=USD&amount=12.5',
]

describeRuntimes('ratesmith serve', (runtime) => {
  const [, program, ...parameters] = runtime

  async function expectSameAnswers(latest: string): Promise<void> {
    const { url } = await listen(upstreams(latest))
    const env = { RATESMITH_LATEST_URL: url, RATESMITH_HISTORY_URL: `${url}/` }
    const running = serve([], env, runtime)
    const root = await rootOf(running)
    const inProcess = createRatesHandler({
      providers: {
        latest: createExchangeRateApiProvider({ url }),
        history: createFrankfurterProvider({ url }),
      },
    })
    for (const target of TARGETS) {
      const response = await fetch(root + target, { headers: { 'accept-encoding': 'identity' } })
      const expected = await inProcess(new Request(`http://localhost${target}`))
      expect(response.status, target).toBe(200)
      expect(response.headers.get('etag')).toBe(expected.headers.get('etag'))
      expect(await response.text()).toBe(await expected.text())
    }
    expect(running.stderr).not.toMatch(/"level":"(warn|error)"/)
  }

  /** A server whose upstream holds its answer back until it is released, and an answer of it that is under way. */
  async function startAnswering(): Promise<{
    running: Running
    root: string
    answer: Promise<Response>
    release: () => void
  }> {
    const asked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const mayAnswer = (): Promise<void> => {
      asked.resolve()
      return released.promise
    }
    const { url } = await listen(upstreams(openErApiPayload({ now: Date.now() }), mayAnswer))
    const running = serve([], { RATESMITH_LATEST_URL: url }, runtime)
    const root = await rootOf(running)
    const answer = fetch(`${root}/api/rates`)
    // Not every test waits for it.
    answer.catch(() => undefined)
    await asked.promise
    return { running, root, answer, release: released.resolve }
  }

  async function expectNoConnections(root: string): Promise<void> {
    const refused = async (): Promise<boolean> =>
      fetch(root).then(
        () => false,
        () => true,
      )
    await expect.poll(refused, { timeout: 5_000 }).toBe(true)
  }

  it('answers on all five endpoints from its upstreams', async () => {
    await expectSameAnswers(openErApiPayload({ now: Date.now() }))
  })

  it.skipIf(!existsSync(RECORDED))(
    'answers from recorded latest rates, where there are any',
    async () => {
      await expectSameAnswers(readFileSync(RECORDED, 'utf8'))
    },
  )

  it.each(['SIGTERM', 'SIGINT'] as const)('finishes the answer under way on %s', async (signal) => {
    const { running, root, answer, release } = await startAnswering()
    running.process.kill(signal)
    await expectNoConnections(root)
    release()
    const response = await answer
    expect(response.status).toBe(200)
    expect(Object.keys(Object(await response.json()).rates)).toHaveLength(166)
    expect(await running.exited).toBe(0)
    expect(running.stderr).not.toMatch(/"level":"(warn|error)"/)
  })

  it('ends at once on a second signal, also another one', async () => {
    const { running, root, answer } = await startAnswering()
    running.process.kill('SIGTERM')
    await expectNoConnections(root)
    running.process.kill('SIGINT')
    expect(
      await answer.then(
        () => 'answered',
        () => 'cut off',
      ),
    ).toBe('cut off')
    expect(await running.exited).not.toBe(0)
  })

  it('stops while a client keeps its connection open', async () => {
    const running = serve(['--demo'], {}, runtime)
    const root = await rootOf(running)
    await new Promise((resolve) => {
      get(`${root}/api/rates`, { headers: { connection: 'keep-alive' } }, (response) =>
        response.resume().on('end', resolve),
      )
    })
    running.process.kill('SIGTERM')
    expect(await running.exited).toBe(0)
  })

  it.each([
    [[], '*', null],
    [['--cors', 'v1'], '*', null],
    [['--cors', 'all'], '*', '*'],
    [['--cors', 'off'], null, null],
  ])('lets every origin read what %j says', async (args, versioned, unversioned) => {
    const root = await rootOf(serve(['--demo', ...args], {}, runtime))
    const allowed = async (path: string): Promise<string | null> =>
      (await fetch(root + path)).headers.get('access-control-allow-origin')
    expect(await allowed('/api/v1/latest')).toBe(versioned)
    expect(await allowed('/api/rates')).toBe(unversioned)
  })

  it.each(['another', 'one of its own'])(
    'ends with 1 and one line for a port that %s has',
    async (who) => {
      const root =
        who === 'another'
          ? (await listen(() => {})).url
          : await rootOf(serve(['--demo'], {}, runtime))
      const { port } = new URL(root)
      const args = [...parameters, CLI, 'serve', '--demo', '--port', port]
      const { code, stderr } = await run(program, args)
      expect(code).toBe(1)
      expect(stderr).toBe(
        `ratesmith: port ${port} on 127.0.0.1 is taken; choose another with --port\n`,
      )
    },
  )

  it('listens on an address as it stands in a URL', async () => {
    const root = await rootOf(serve(['--demo', '--host', '[::1]'], {}, runtime))
    expect(root).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${root}/api/v1/latest`)).status).toBe(200)
  })

  it('ends with 1 and one line for an address that is not its own', async () => {
    const args = [...parameters, CLI, 'serve', '--demo', '--port', '0', '--host', '192.0.2.1']
    const { code, stderr } = await run(program, args)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^ratesmith: cannot listen on 192\.0\.2\.1, port 0: [^\n]+\n$/)
  })
})
