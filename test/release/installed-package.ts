import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { run } from '../system/processes.ts'
import { ROOT } from '../system/root.ts'

/** The packed tarball, installed into an empty folder, as a user has it. */
export interface InstalledPackage {
  /** Path of the folder. */
  folder: string
  /** Path of the tarball. */
  tarball: string
  /** What the tarball holds: paths from the root of the package. */
  files: string[]
  /** Writes a file into the folder. */
  write(name: string, text: string): void
  /** Removes the folder. */
  remove(): void
}

/** Packs what is built, and installs it. */
export async function installPackage(): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-installed-'))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [{ filename, files }] = JSON.parse(await npm(args, ROOT))
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  write('package.json', '{ "private": true, "type": "module" }')
  await npm(['install', '--no-audit', '--no-fund', '--prefer-offline', `./${filename}`], folder)
  return {
    folder,
    tarball: join(folder, filename),
    files: files.map(({ path }: { path: string }) => path),
    write,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What npm prints; throws where it fails. */
export async function npm(args: string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run('npm', args, { cwd })
  if (code !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
  return stdout
}
