import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { run } from '../../system/processes.ts'
import { ROOT } from '../../system/root.ts'
import type { Page } from './page.ts'

let installed: Promise<string> | undefined

/** An empty folder into which the packed tarball has been installed, as the README says; it is there until this ends. */
export function installTarball(): Promise<string> {
  installed ??= (async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ratesmith-installed-')))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    const [{ filename }] = JSON.parse(await npm(pack, ROOT))
    const flags = ['--prefix', '.', '--no-audit', '--no-fund', '--prefer-offline']
    await npm(['install', ...flags, `./${filename}`], folder)
    return folder
  })()
  return installed
}

async function npm(args: string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run('npm', args, { cwd })
  if (code !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** The packages beside ours that a page says to install, or whose programs it runs. */
export function packagesOf({ text }: Page): string[] {
  const installs = /\b(?:npm install|bun add|deno add) ([^\n`&|#]+)/g
  const runs = /^npx (\S+)/gm
  const words = [...text.matchAll(installs), ...text.matchAll(runs)].flatMap(([, names = '']) =>
    names.trim().split(/\s+/),
  )
  const names = words.map((word) => word.replace(/^npm:|(?<=.)@[\d.]+$/, ''))
  return [...new Set(names)].filter((name) => name !== 'ratesmith' && isInstalled(name))
}

function isInstalled(name: string): boolean {
  return /^[a-z@]/.test(name) && existsSync(join(ROOT, 'node_modules', name))
}

/** Puts a package into a folder as npm would, but from where the project has it. */
export function link(folder: string, name: string): void {
  const modules = join(folder, 'node_modules')
  const source = realpathSync(join(ROOT, 'node_modules'))
  mkdirSync(dirname(join(modules, name)), { recursive: true })
  symlinkSync(join(source, name), join(modules, name))
  const program = join(source, '.bin', name)
  if (existsSync(program)) symlinkSync(program, join(modules, '.bin', name))
  const path = join(folder, 'package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  manifest.dependencies[name] = '*'
  // It is a link to that of every page.
  rmSync(path)
  writeFileSync(path, JSON.stringify(manifest))
}
