// Measures the standalone server and its other clients while many clients request the most expensive responses.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'

import { killOnExit } from '../test/system/child.ts'
import { print } from './figures.ts'
import type { LoopTimes } from './load/loop-times-program.ts'
import { overload } from './load/overload.ts'

const { values } = parseArgs({
  options: {
    cli: { type: 'string', default: 'dist/cli.js' },
    seconds: { type: 'string', default: '20' },
    connections: { type: 'string', default: '400' },
  },
})

process.on('SIGINT', () => process.exit(130))
print(
  'accepted | 200 | 503 | slowest ms | peak MB | plain p50 ms | p99 ms | loop p95 ms | late ms | load average',
)
for (const acceptEncoding of ['br', 'gzip, br', 'identity']) await measure(acceptEncoding)
process.exit()

async function measure(acceptEncoding: string): Promise<void> {
  const [load = NaN] = loadavg()
  const flags = ['--import=./bench/load/loop-times-program.ts', values.cli, 'serve', '--demo']
  const server = spawn(process.execPath, [...flags, '--port', '0', '--log', 'json'])
  const ended = killOnExit(server)
  let stderr = ''
  server.stderr.on('data', (chunk) => (stderr += chunk))
  const [greeting] = await once(server.stdout, 'data')
  const [url = ''] = /https?:\/\/\S+:\d+/.exec(String(greeting)) ?? []
  const [connections, duration] = [Number(values.connections), 1_000 * Number(values.seconds)]
  const settings = { url, connections, duration, acceptEncoding }
  const report = await overload(settings, server.pid ?? NaN)
  server.kill()
  await ended
  const loop: LoopTimes = JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
  const { statuses, slowest, peakRss, p50, p99, late, wrong } = report
  const times = [p50, p99, loop.p95, late, load].map((value) => value.toFixed(1))
  const counts = [statuses['200'] ?? 0, statuses['503'] ?? 0]
  const columns = [acceptEncoding, ...counts, Math.round(slowest), Math.round(peakRss), ...times]
  print([...columns, ...wrong].join(' | '))
}
