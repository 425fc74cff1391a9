import { cpSync, globSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'

import { isIgnored } from './dockerfile.ts'
import type { Stage, Step } from './dockerfile.ts'
import { run } from './processes.ts'
import { ROOT } from './root.ts'

/** A stage that is being carried out: its `/` is `root`. */
interface Site {
  root: string
  cwd: string
}

/** The environment of the steps: the Node that runs this for `node` and npm, and packages from npm's cache where it has them. */
const ENV = {
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  npm_config_prefer_offline: 'true',
}

/**
 * Carries out the `COPY`, `RUN` and `WORKDIR` of `stages` without a container, each stage in a folder of its own below
 * `folder`; resolves with the folder that the last one works in.
 *
 * @throws {Error} with what a step wrote when it fails
 */
export async function buildImage(stages: readonly Stage[], folder: string): Promise<string> {
  const context = copyContext(join(folder, 'context'))
  const roots = new Map<string | undefined, string>()
  let site: Site = { root: '', cwd: '' }
  for (const { name, steps } of stages) {
    const root = join(folder, `stage-${name ?? 'last'}`)
    site = { root, cwd: root }
    for (const step of steps) await carryOut(step, site, { context, roots })
    roots.set(name, root)
  }
  return site.cwd
}

/** What a build is given of the project. */
function copyContext(context: string): string {
  const dockerignore = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
  for (const name of readdirSync(ROOT).filter((each) => !isIgnored(dockerignore, each))) {
    cpSync(join(ROOT, name), join(context, name), { recursive: true })
  }
  return context
}

async function carryOut(
  { instruction, text }: Step,
  site: Site,
  places: { context: string; roots: ReadonlyMap<string | undefined, string> },
): Promise<void> {
  if (instruction === 'WORKDIR') {
    site.cwd = inside(site, text)
    mkdirSync(site.cwd, { recursive: true })
  } else if (instruction === 'COPY') {
    const [, stage, paths = ''] = /^(?:--from=(\S+) )?([^-].*)$/.exec(text) ?? []
    const from = stage === undefined ? places.context : places.roots.get(stage)
    if (from === undefined) throw new Error(`cannot copy ${text}`)
    copy(paths.split(' '), from, site)
  } else if (instruction === 'RUN') {
    const { code, stderr } = await run('sh', ['-ec', text], { cwd: site.cwd, env: ENV })
    if (code !== 0) throw new Error(`${text}: ${stderr}`)
  }
}

/** As Docker copies: a file by its name, of a folder what is in it. */
function copy(paths: string[], from: string, site: Site): void {
  const target = inside(site, paths.at(-1) ?? '')
  for (const pattern of paths.slice(0, -1)) {
    const sources = globSync(join(from, pattern))
    if (sources.length === 0) throw new Error(`nothing to copy: ${pattern}`)
    for (const source of sources) {
      const isFolder = statSync(source).isDirectory()
      cpSync(source, isFolder ? target : join(target, basename(source)), { recursive: true })
    }
  }
}

function inside({ root, cwd }: Site, path: string): string {
  return path.startsWith('/') ? join(root, path) : resolve(cwd, path)
}
