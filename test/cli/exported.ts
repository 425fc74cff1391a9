import { createHash } from 'node:crypto'
import fs from 'node:fs'

interface Listed {
  name: string
  size: number
  sha256: string
}

export interface Index {
  version: number
  since: string
  files: Listed[]
}

export function readIndex(folder: string): Index {
  return JSON.parse(fs.readFileSync(`${folder}/index.json`, 'utf8'))
}

/** Returns the texts of the files in `index` by the names without their digests, as a reader does; throws for a file that is not whole. */
export function readExported(
  folder: string,
  index: Index = readIndex(folder),
): Map<string, string> {
  return new Map(
    index.files.map(({ name, size, sha256 }) => {
      const bytes = fs.readFileSync(`${folder}/${name}`)
      const digest = createHash('sha256').update(bytes).digest('hex')
      const [, start = '', eight = '', ending = ''] = /^(.*)\.(.{8})\.(\w+)$/.exec(name) ?? []
      const isWhole = bytes.length === size && digest === sha256 && digest.startsWith(eight)
      if (!isWhole) throw new Error(`${name} is not whole`)
      return [`${start}.${ending}`, bytes.toString()]
    }),
  )
}

export function namesIn(folder: string): string[] {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((each) => `${each.parentPath}/${each.name}`)
  return paths.map((path) => path.slice(folder.length + 1)).toSorted()
}
