import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { run, temporaryFolder } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'

const REPOSITORY = 'git+https://github.com/owner/name.git'

const NOTES = '- A sentence.\n\n### More\n\n- Another.\n'
const CHANGELOG = [
  '# Changelog\n\n## Unreleased\n\n- To come.\n',
  `## 1.2.0 (2026-12-01)\n\n${NOTES}`,
  '## 1.1.0 (2026-02-30)\n\n- On an impossible date.\n',
  '## 1.0.0\n\n- Without a date.\n',
].join('\n')

async function writeNotes(manifest: object, tag: string) {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(cwd, 'CHANGELOG.md'), CHANGELOG)
  const env = { GITHUB_REF_NAME: tag, GITHUB_REPOSITORY: 'owner/name' }
  return run(process.execPath, [join(ROOT, '.ci/release/main.ts')], { cwd, env })
}

describe('the program for release notes', () => {
  it.each([{ url: REPOSITORY }, REPOSITORY])('prints the section: %j', async (repository) => {
    const ended = await writeNotes({ version: '1.2.0', repository }, 'v1.2.0')
    expect(ended).toEqual({ code: 0, stdout: NOTES, stderr: '' })
  })

  it.each([
    ['a tag of another version', '1.2.0', REPOSITORY, 'v1.3.0', /^The tag is v1\.3\.0.* 1\.2\.0\./],
    ['a tag with a suffix', '1.2.0', REPOSITORY, 'v1.2.0-rc.1', /^The tag is v1\.2\.0-rc\.1/],
    ['a section without a date', '1.0.0', REPOSITORY, 'v1.0.0', /^CHANGELOG\.md .*"## 1\.0\.0/],
    ['an impossible date', '1.1.0', REPOSITORY, 'v1.1.0', /^CHANGELOG\.md .*"## 1\.1\.0/],
    ['another repository', '1.2.0', `${REPOSITORY}x`, 'v1.2.0', /set it to .*owner\/name\.git\.$/m],
  ])('fails for %s', async (_, version, repository, tag, reason) => {
    const { code, stdout, stderr } = await writeNotes({ version, repository }, tag)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(reason)])
  })
})
