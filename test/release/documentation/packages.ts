import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { inject } from 'vitest'

import { ROOT } from '../../system/root.ts'
import type { Page } from './page.ts'

/** Makes a folder in which the packed tarball has been installed, as the README says. */
export function installPackage(folder: string): void {
  mkdirSync(folder)
  // As links: a page writes none of them, and they are some thousands.
  execFileSync('cp', ['-al', join(inject('installed').folder, 'node_modules'), folder])
  writeManifest(folder, { ratesmith: '*' })
}

/** The packages that a command installs. */
export function installedBy(command: string): string[] {
  const [, words = ''] = /\b(?:npm install|bun add|deno add) ([^\n`&|#]+)/.exec(command) ?? []
  const names = words.split(/\s+/).filter((word) => /^[a-z@]/.test(word))
  return names.map((name) => name.replace(/^npm:|(?<=.)@[\w.]+$/, ''))
}

/** The packages beside ours that a page says to install, or whose programs it runs, as far as the project has them. */
export function packagesOf({ text }: Page): string[] {
  const installs = text.match(/\b(?:npm install|bun add|deno add) [^\n`]+/g) ?? []
  const runs = [...text.matchAll(/^npx (\S+)/gm)].map(([, name = '']) => name)
  const names = new Set([...installs.flatMap(installedBy), ...runs])
  names.delete('ratesmith')
  return [...names].filter((name) => existsSync(join(ROOT, 'node_modules', name)))
}

/** Puts a package into a folder as npm would, but from where the project has it. */
export function link(folder: string, name: string): void {
  const modules = join(folder, 'node_modules')
  const source = realpathSync(join(ROOT, 'node_modules'))
  mkdirSync(dirname(join(modules, name)), { recursive: true })
  symlinkSync(join(source, name), join(modules, name))
  const program = join(source, '.bin', name)
  if (existsSync(program)) symlinkSync(program, join(modules, '.bin', name))
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  writeManifest(folder, { ...dependencies, [name]: '*' })
}

/** Writes package.json as npm leaves it in an empty folder. */
function writeManifest(folder: string, dependencies: Record<string, string>): void {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies }))
}
