import { mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { markdown } from '../figures.ts'
import { measureRounds } from './rounds.ts'
import type { Measuring } from './rounds.ts'
import type { Row, Sheet } from './rows.ts'
import { startRow, withPreparedResponse } from './running.ts'

/** The used part of a V8 or JavaScriptCore CPU profile. */
interface CpuProfile {
  nodes: {
    id: number
    callFrame: { functionName: string; url: string; lineNumber: number }
  }[]
  samples: number[]
  timeDeltas: number[]
}

/** Functions that are printed. */
const SHOWN = 25

/** Puts the server of a row under load, and writes its CPU profile; returns the path and a table of the functions. */
export async function profileRow(row: Row, sheet: Sheet, how: Measuring): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-profile-'))
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=200']
  await withPreparedResponse(sheet.target, async (prepared) => {
    const server = await startRow(row, prepared, flags)
    await measureRounds([{ row, server }], sheet, how)
    await server.end()
  })
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))
  const path = join(folder, file)
  const profile: CpuProfile = JSON.parse(readFileSync(path, 'utf8'))
  return `${path}\n\n${tableOf(profile)}`
}

/** Returns the time of each function itself, as a share of the time in which the process was not idle. */
function tableOf({ nodes, samples, timeDeltas }: CpuProfile): string {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName || '(anonymous)'} ${basename(url)}:${lineNumber + 1}`,
    ]),
  )
  const times = new Map<string, number>()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? ''
    const time = timeDeltas[index] ?? 0
    if (name.startsWith('(idle)')) continue
    total += time
    times.set(name, (times.get(name) ?? 0) + time)
  }
  const sorted = [...times].sort(([, one], [, other]) => other - one)
  const lines = sorted.slice(0, SHOWN)
  return markdown(
    ['function', 'share'],
    lines.map(([name, time]) => [`\`${name}\``, `${((100 * time) / total).toFixed(1)} %`]),
  )
}
