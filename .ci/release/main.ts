// In a workflow that a tag has started: writes the notes of the release to stdout, or says why there can be none.
import { readFileSync } from 'node:fs'

import { objections, sectionOf } from './objections.ts'

const { GITHUB_REF_NAME: tag = '', GITHUB_REPOSITORY: repository = '' } = process.env

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const changelog = readFileSync('CHANGELOG.md', 'utf8')

const found = objections({ tag, repository, manifest, changelog })
for (const objection of found) process.stderr.write(`${objection}\n`)
if (found.length > 0) process.exitCode = 1
else process.stdout.write(`${sectionOf(changelog, manifest.version)}\n`)
