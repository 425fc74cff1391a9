import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { TestProject } from 'vitest/node'

import { ROOT } from '../system/runtimes.ts'

/** The packed tarball, installed into an empty folder. */
export interface InstalledPackage {
  /** Path of the folder. */
  folder: string
  /** Files in the tarball, relative to the root of the package. */
  files: string[]
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
  const [{ filename, files }] = JSON.parse(npm(args, ROOT))
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', `./${filename}`], folder)
  provide('installed', { folder, files: files.map(({ path }: { path: string }) => path) })
  return () => rmSync(folder, { recursive: true, force: true })
}

function npm(args: string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}
