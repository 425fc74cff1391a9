import { isUnsafeStage, mixesRights, rightsOf } from './job-rights.ts'
import { commandsOf, jobsWhere, runnersOf, stepsOf, stepsWith, usesOf } from './workflow.ts'
import type { Workflow } from './workflow.ts'

/** What must hold of every workflow. */
export interface Rule {
  name: string
  /** What breaks it: nothing, where all is well. */
  breaches(workflow: Workflow): string[]
}

const ACTIONS = ['checkout', 'setup-node', 'upload-artifact', 'download-artifact']
const RUNNERS = ['ubuntu-24.04', 'macos-15', 'windows-2025']
const EVENTS = ['pull_request', 'push', 'release', 'schedule', 'workflow_call', 'workflow_dispatch']
const LONGEST_MINUTES = 60

/** The rules of a careful reader, most of which tools of the trade have, too. */
export const RULES: Rule[] = [
  {
    name: 'uses four actions of GitHub, each pinned by its commit, with its version beside it',
    breaches: (workflow) =>
      usesOf(workflow)
        .filter((uses) => !uses.startsWith('./.github/workflows/'))
        .filter((uses) => {
          const [, action = ''] = /^actions\/([\w-]+)@[0-9a-f]{40}$/.exec(uses) ?? []
          const line = new RegExp(`uses: ${uses} # v\\d+\\.\\d+\\.\\d+$`, 'm')
          return !ACTIONS.includes(action) || !line.test(workflow.text)
        }),
  },
  {
    name: 'starts with no permission, and gives each job what it needs',
    breaches: ({ permissions, jobs }) => [
      ...(JSON.stringify(permissions) === '{}' ? [] : ['the workflow']),
      ...Object.entries(jobs)
        .filter(([, job]) => job.permissions === undefined)
        .map(([name]) => name),
    ],
  },
  {
    name: 'grants nothing but reading, drafting a release and staging a version',
    breaches: ({ jobs }) =>
      Object.entries(jobs).flatMap(([name, job]) =>
        rightsOf(job)
          .map(([scope, access]) => `${scope}: ${access}`)
          .filter((each) => !/^contents: (read|write)$|^id-token: write$/.test(each))
          .map((each) => `${name} has ${each}`),
      ),
  },
  {
    name: 'runs no code of others where it can write or say who it is',
    breaches: (workflow) => jobsWhere(workflow, mixesRights),
  },
  {
    name: 'publishes from a reviewed environment alone, with no other right',
    breaches: (workflow) => jobsWhere(workflow, isUnsafeStage),
  },
  {
    name: 'stages what it publishes, for a person to approve',
    breaches: (workflow) =>
      jobsWhere(workflow, (job) => /\b(npm|deno|jsr) publish\b/.test(commandsOf(job))),
  },
  {
    name: 'leaves no credentials in what it checks out',
    breaches: (workflow) =>
      stepsWith(workflow, 'checkout')
        .filter(({ with: inputs }) => inputs?.['persist-credentials'] !== false)
        .map(({ uses = '' }) => uses),
  },
  {
    name: 'is started by nobody who may not write here, where it has rights',
    breaches: ({ on }) => Object.keys(on).filter((event) => !EVENTS.includes(event)),
  },
  {
    name: 'puts no expression into a command',
    breaches: (workflow) =>
      stepsOf(workflow).flatMap(({ run = '' }) => (run.includes('${{') ? [run] : [])),
  },
  {
    name: 'keeps nothing in a cache, from which one run could poison another',
    breaches: (workflow) => [
      ...(workflow.text.match(/actions\/cache|^\s+cache(-dependency-path)?:/gm) ?? []),
      ...stepsWith(workflow, 'setup-node')
        .filter(({ with: inputs }) => inputs?.['package-manager-cache'] !== false)
        .map(({ uses = '' }) => uses),
    ],
  },
  {
    name: 'knows no secret, and hands its own token to GitHub alone',
    breaches: (workflow) => [
      ...(workflow.text.match(/secrets\s*[.[:].*/g) ?? []),
      ...stepsOf(workflow)
        .filter((step) => JSON.stringify(step).includes('github.token'))
        .filter(({ run = '' }) => !/^(version=.*\n)?gh \S/.test(run))
        .map((step) => JSON.stringify(step)),
    ],
  },
  {
    name: 'ends in time',
    breaches: (workflow) =>
      jobsWhere(
        workflow,
        ({ 'timeout-minutes': minutes = Infinity }) => !(minutes <= LONGEST_MINUTES),
      ),
  },
  {
    name: 'names the release of the system that it runs on',
    breaches: (workflow) =>
      jobsWhere(workflow, (job) => runnersOf(job).some((each) => !RUNNERS.includes(String(each)))),
  },
  {
    name: 'says what may run beside it',
    breaches: ({ concurrency }) => (concurrency === undefined ? ['no concurrency'] : []),
  },
  {
    name: 'fails when something in it fails',
    breaches: ({ text }) => text.match(/continue-on-error.*|\|\| (true|:).*|always\(\)/g) ?? [],
  },
]
