import { build } from 'esbuild'
import type { BuildOptions } from 'esbuild'

import { ROOT } from './runtimes.ts'

export async function bundleClient(options: BuildOptions) {
  const stdin = { contents: "export * from 'ratesmith/client'", resolveDir: ROOT }
  const always = { stdin, bundle: true, minify: true, metafile: true, write: false } as const
  const { outputFiles, metafile } = await build({ ...options, ...always })
  return { text: outputFiles[0]?.text ?? '', metafile }
}
