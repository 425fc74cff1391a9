// Installs packages that only some commands need, from a separate manifest and lock file. Runs on any Node from 18 up.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the project. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Installs the manifest in `folder`, unless it was installed before with the same lock file.
 *
 * @throws {Error} if npm fails, which has then printed the reason
 */
export function installOnce(folder, reason) {
  const lock = readFileSync(join(ROOT, folder, 'package-lock.json'), 'utf8')
  const stamp = join(ROOT, folder, 'node_modules', '.installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  process.stderr.write(`${reason} (once, into ${folder}/node_modules) …\n`)
  const { status } = runNpm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], folder)
  if (status !== 0) throw new Error(`npm ci failed in ${folder}`)
  writeFileSync(stamp, lock)
}

/** Links the packages of the manifest in `folder`, and their commands, into the root's `node_modules`. */
export function linkPackages(folder) {
  const manifest = readJson(join(ROOT, folder))
  const from = join(ROOT, folder, 'node_modules')
  const to = join(ROOT, 'node_modules')
  for (const [name, version] of Object.entries({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
  })) {
    // Optional packages exist on some systems only.
    if (!existsSync(join(from, name))) continue
    link(join(from, name), join(to, name))
    // An alias is another version of a program and must not replace it.
    if (version.startsWith('npm:')) continue
    const { bin = {} } = readJson(join(from, name))
    const commands = typeof bin === 'string' ? [name.replace(/^.*\//, '')] : Object.keys(bin)
    for (const command of commands) link(join(from, '.bin', command), join(to, '.bin', command))
  }
}

function readJson(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function link(target, path) {
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  // Removes a link whose target no longer exists.
  rmSync(path, { force: true })
  // On Windows a junction needs no privileges, but an absolute target.
  if (process.platform === 'win32') symlinkSync(target, path, 'junction')
  else symlinkSync(relative(dirname(path), target), path)
}

function runNpm(args, folder) {
  // On Windows npm is not an executable, but npm passes the path of its script to its child processes.
  const script = process.env['npm_execpath']
  const [program, ...first] = script ? [process.execPath, script] : ['npm']
  const options = { cwd: join(ROOT, folder), stdio: ['ignore', 'ignore', 'inherit'] }
  return spawnSync(program, [...first, ...args], options)
}
