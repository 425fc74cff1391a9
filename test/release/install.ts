import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { TestProject } from 'vitest/node'

import { ROOT } from '../system/runtimes.ts'

/** The packed tarball, installed into an empty folder. */
export interface InstalledPackage {
  folder: string
  /** Files in the tarball, relative to the root of the package. */
  files: string[]
  /** Of all files, in bytes. */
  unpackedSize: number
  /** What npm printed to stderr during the installation. */
  warnings: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    installed: InstalledPackage
  }
}

/** Packs and installs the build once for all tests of this project. */
export default function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-installed-'))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [{ filename, files, unpackedSize }] = JSON.parse(npm(args, ROOT).stdout)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  // A user's npm shows warnings; `npm run` passes the level of this project on.
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=warn']
  const { stderr } = npm(['install', ...options, `./${filename}`], folder)
  const paths = files.map(({ path }: { path: string }) => path)
  provide('installed', { folder, files: paths, unpackedSize, warnings: stderr })
  return () => rmSync(folder, { recursive: true, force: true })
}

function npm(args: string[], cwd: string): { stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stderr}`)
  return { stdout, stderr }
}
