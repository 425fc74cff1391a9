import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { run, temporaryFolder } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'

const REPOSITORY = 'git+https://github.com/owner/name.git'

const NOTES = '- A sentence.\n\n### More\n\n- Another.\n'
const CHANGELOG = `# Changelog\n\n## Unreleased\n\n- To come.\n
## 1.2.0 (2026-12-01)\n\n${NOTES}\n## 1.1.0 (2026-02-30)\n\n- Never.\n\n## 1.0.0\n\n- Without a date.\n`

it.each([
  ['1.2.0', REPOSITORY, 'v1.2.0', undefined],
  ['1.2.0', REPOSITORY, 'v1.3.0', /^The tag is v1\.3\.0.* 1\.2\.0\./],
  ['1.0.0', REPOSITORY, 'v1.0.0', /^CHANGELOG\.md .*"## 1\.0\.0/],
  ['1.1.0', REPOSITORY, 'v1.1.0', /^CHANGELOG\.md .*"## 1\.1\.0/],
  ['1.2.0', `${REPOSITORY}x`, 'v1.2.0', /set it to .*owner\/name\.git\.$/m],
])('prints the notes of %s of %s for the tag %s, or why not', async (version, url, tag, reason) => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ version, repository: { url } }))
  writeFileSync(join(cwd, 'CHANGELOG.md'), CHANGELOG)
  const env = { GITHUB_REF_NAME: tag, GITHUB_REPOSITORY: 'owner/name' }
  const ended = await run(process.execPath, [join(ROOT, '.ci/release/main.ts')], { cwd, env })
  const failed = { code: 1, stdout: '', stderr: expect.stringMatching(reason ?? '') }
  expect(ended).toEqual(reason ? failed : { code: 0, stdout: NOTES, stderr: '' })
})
