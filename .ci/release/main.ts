// Run by the workflow of a pushed tag: prints the release notes, or the reasons against a release.
import { readFileSync } from 'node:fs'

const { GITHUB_REF_NAME: tag = '', GITHUB_REPOSITORY: repository = '' } = process.env

const manifest: { version: string; repository?: string | { url?: string } } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)
const notes = sectionOf(readFileSync('CHANGELOG.md', 'utf8'), manifest.version)
const reasons = reasonsAgainst()

if (reasons.length > 0) {
  process.stderr.write(`${reasons.join('\n')}\n`)
  process.exitCode = 1
} else process.stdout.write(`${notes}\n`)

function reasonsAgainst(): string[] {
  const { version, repository: named } = manifest
  const url = typeof named === 'string' ? named : named?.url
  // npm compares it with the repository that built a version before it shows provenance.
  const expected = `git+https://github.com/${repository}.git`
  const checks: [isMet: boolean, reason: string][] = [
    [tag === `v${version}`, `The tag is ${tag}, but package.json has ${version}.`],
    [notes !== undefined, `CHANGELOG.md has no section "## ${version} (year-month-day)".`],
    [
      url === expected,
      `package.json has ${url ?? 'no address'} as repository.url; set it to ${expected}.`,
    ],
  ]
  return checks.filter(([isMet]) => !isMet).map(([, reason]) => reason)
}

/** Returns the text below the heading of `version`, or undefined if no heading has it and a valid date. */
function sectionOf(changelog: string, version: string): string | undefined {
  const [, ...sections] = changelog.split(/^## /m)
  for (const section of sections) {
    const [heading = '', ...lines] = section.split('\n')
    const [, name, date = ''] = /^(\S+) \((\d{4}-\d\d-\d\d)\)$/.exec(heading) ?? []
    if (name === version && isDate(date)) return lines.join('\n').trim()
  }
  return undefined
}

/** Returns whether the date is in the calendar, unlike 30 February. */
function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  return Number.isFinite(date.getTime()) && date.toISOString().startsWith(text)
}
