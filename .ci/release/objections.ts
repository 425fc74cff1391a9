/** What a release is judged by. */
export interface Candidate {
  /** The tag that was pushed. */
  tag: string
  /** The repository on GitHub, as `owner/name`. */
  repository: string
  /** What package.json holds. */
  manifest: { version: string; repository?: string | { url?: string } }
  /** The text of CHANGELOG.md. */
  changelog: string
}

/** Why nothing may be released from this tag, one sentence for each reason. */
export function objections({ tag, repository, manifest, changelog }: Candidate): string[] {
  const { version } = manifest
  const found: string[] = []
  if (tag !== `v${version}`) found.push(`The tag is ${tag}, but package.json has ${version}.`)
  if (sectionOf(changelog, version) === undefined) {
    found.push(`CHANGELOG.md has no section "## ${version} (year-month-day)".`)
  }
  const { repository: named } = manifest
  const url = typeof named === 'string' ? named : named?.url
  const expected = `git+https://github.com/${repository}.git`
  if (url !== expected) {
    // npm compares the two before it shows where a version was built.
    found.push(`package.json has ${url ?? 'no address'} as repository.url; set it to ${expected}.`)
  }
  return found
}

/** What the changelog says of a version, without the heading, or nothing where it has no dated section of it. */
export function sectionOf(changelog: string, version: string): string | undefined {
  const [, ...sections] = changelog.split(/^## /m)
  for (const section of sections) {
    const [heading = '', ...lines] = section.split('\n')
    const [, of, day = ''] = /^(\S+) \((\d{4}-\d\d-\d\d)\)$/.exec(heading) ?? []
    if (of === version && isDay(day)) return lines.join('\n').trim()
  }
  return undefined
}

/** Whether the calendar has the day. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return Number.isFinite(day.getTime()) && day.toISOString().startsWith(text)
}
