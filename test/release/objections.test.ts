import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { objections, sectionOf } from '../../.ci/release/objections.ts'
import type { Candidate } from '../../.ci/release/objections.ts'
import { NODE } from '../system/runtimes.ts'
import { run } from '../system/processes.ts'
import { ROOT } from '../system/root.ts'

const URL_OF_REPOSITORY = 'git+https://github.com/owner/name.git'
const CHANGELOG = `# Changelog

## Unreleased

- To come.

## 1.2.0 (2026-12-01)

- A sentence.

### More

- Another.

## 1.1.0 (2026-02-30)

- On a day that no calendar has.

## 1.0.0

- Without a day.
`

/** A candidate that may be released, but for what is given. */
function candidate(changes: Partial<Candidate> & { version?: string } = {}): Candidate {
  const { version = '1.2.0', ...others } = changes
  return {
    tag: `v${version}`,
    repository: 'owner/name',
    manifest: { version, repository: { url: URL_OF_REPOSITORY } },
    changelog: CHANGELOG,
    ...others,
  }
}

describe('a release', () => {
  it('may be made of a tag that fits the manifest and the changelog', () => {
    expect(objections(candidate())).toEqual([])
    expect(
      objections(candidate({ manifest: { version: '1.2.0', repository: URL_OF_REPOSITORY } })),
    ).toEqual([])
  })

  it.each<[string, Parameters<typeof candidate>[0], RegExp]>([
    ['the tag is of another version', { tag: 'v1.3.0' }, /^The tag is v1\.3\.0.* 1\.2\.0\.$/],
    ['the tag has no v', { tag: '1.2.0' }, /^The tag is 1\.2\.0/],
    ['the tag says more', { tag: 'v1.2.0-rc.1' }, /^The tag is v1\.2\.0-rc\.1/],
    ['the changelog has no day', { version: '1.0.0' }, /^CHANGELOG\.md has no section "## 1\.0\.0/],
    ['no calendar has the day', { version: '1.1.0' }, /^CHANGELOG\.md has no section "## 1\.1\.0/],
    [
      'the changelog has nothing',
      { version: '9.9.9' },
      /^CHANGELOG\.md has no section "## 9\.9\.9/,
    ],
    ['there is no address', { manifest: { version: '1.2.0' } }, /has no address.* set it to git\+/],
    ['it is a fork', { repository: 'other/name' }, /set it to .*github\.com\/other\/name\.git\.$/],
    [
      'the address is of another form',
      { manifest: { version: '1.2.0', repository: { url: 'https://github.com/owner/name' } } },
      /^package\.json has https:.* set it to git\+/,
    ],
  ])('is refused when %s', (_, changes, sentence) => {
    const found = objections(candidate(changes))
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(sentence)
  })

  it('has the section of its version as notes, up to the next', () => {
    expect(sectionOf(CHANGELOG, '1.2.0')).toBe('- A sentence.\n\n### More\n\n- Another.')
    expect(sectionOf(CHANGELOG, '1.2')).toBeUndefined()
  })
})

describe('the program that the workflow starts', () => {
  const { version, repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const [, program] = NODE

  it('says all that is wrong, and writes no notes', async () => {
    const env = { GITHUB_REF_NAME: 'v0.0.0', GITHUB_REPOSITORY: 'nobody/nothing' }
    const { code, stdout, stderr } = await run(program, ['.ci/release/main.ts'], { env })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('The tag is v0.0.0')
    expect(stderr).toContain('set it to git+https://github.com/nobody/nothing.git.')
  })

  it('writes the notes of this version, once its repository has an address', async () => {
    const [, address = ''] = /github\.com\/(.+)\.git$/.exec(repository?.url ?? '') ?? []
    const env = { GITHUB_REF_NAME: `v${version}`, GITHUB_REPOSITORY: address }
    const { code, stdout, stderr } = await run(program, ['.ci/release/main.ts'], { env })
    const isRefused = address === ''
    expect(code).toBe(isRefused ? 1 : 0)
    // Of all that can be wrong, nothing else is.
    expect(stderr).toMatch(isRefused ? /^package\.json has no address.*\n$/ : /^$/)
    expect(stdout).toBe(
      isRefused ? '' : `${sectionOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version)}\n`,
    )
  })
})
