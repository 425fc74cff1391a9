import { execFileSync, spawn } from 'node:child_process'
import { chownSync, globSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { killOnExit } from '../system/child.ts'
import { temporaryFolder } from '../system/processes.ts'
import { freePort } from '../system/sockets.ts'

/** Where Debian has the programs of the newest version. */
const PROGRAMS = globSync('/usr/lib/postgresql/*/bin/postgres').toSorted().at(-1)

export const NO_POSTGRES: boolean = PROGRAMS === undefined

/** Starts PostgreSQL on the loopback interface with an empty database; it ends with the test. */
export async function startPostgres(finish: (stop: () => void | Promise<void>) => void) {
  const program = (name: string): string => `${PROGRAMS?.replace(/postgres$/, '')}${name}`
  const user = ownerOfServers()
  const folder = temporaryFolder(finish)
  if (user) chownSync(folder, user.uid, user.gid)
  const data = `${folder}/data`
  execFileSync(program('initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '-N'], {
    ...user,
    cwd: folder,
  })
  const port = await freePort()
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'fsync=off']
  const flags = ['-D', data, '-k', folder, ...settings.flatMap((each) => ['-c', each])]
  const server = spawn(program('postgres'), flags, { ...user, cwd: folder, stdio: 'ignore' })
  const ended = killOnExit(server)
  finish(async () => {
    // Ends all its processes at once.
    server.kill('SIGQUIT')
    await ended
  })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  /** Runs a statement; returns its values as text. */
  const run = (text: string): string =>
    execFileSync(program('psql'), [url, '-Atc', text], { encoding: 'utf8', stdio: 'pipe' }).trim()
  await untilReady(run)
  return { url, run }
}

/** PostgreSQL refuses to run as root. */
function ownerOfServers(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres']))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

async function untilReady(run: (text: string) => string): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    try {
      run('select 1')
      return
    } catch {
      await sleep(20)
    }
  }
  throw new Error('PostgreSQL does not reply')
}
