import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { parse } from 'yaml'

import { ROOT } from '../system/root.ts'

const FOLDER = '.github/workflows'

/** One step of a job: an action, or commands of a shell. */
export interface Step {
  uses?: string
  with?: Record<string, unknown>
  run?: string
  env?: Record<string, string>
}

export interface Job {
  'runs-on'?: string
  'timeout-minutes'?: number
  permissions?: Record<string, string> | string
  environment?: string
  needs?: string | string[]
  strategy?: { matrix: { include: Record<string, unknown>[] } }
  /** Another workflow, in the place of steps. */
  uses?: string
  steps?: Step[]
}

/** A workflow, as far as it is judged. */
export interface Workflow {
  path: string
  /** As it is written: comments are in nothing else. */
  text: string
  on: Record<string, unknown>
  permissions?: unknown
  concurrency?: unknown
  jobs: Record<string, Job>
}

/** Reads a workflow; events may be a text or a list, too. */
export function toWorkflow(path: string, text: string): Workflow {
  const { on, ...workflow } = parse(text)
  const events = typeof on === 'string' ? [on] : on
  const byName = Array.isArray(events)
    ? Object.fromEntries(events.map((name) => [name, null]))
    : events
  return { ...workflow, path, text, on: byName }
}

/** All of this repository's, in the order of their names. */
export function readWorkflows(): Workflow[] {
  return readdirSync(join(ROOT, FOLDER))
    .sort()
    .map((name) => readWorkflow(name))
}

export function readWorkflow(name: string): Workflow {
  const path = `${FOLDER}/${name}`
  return toWorkflow(path, readFileSync(join(ROOT, path), 'utf8'))
}

/** The jobs that have steps. */
export function jobsOf({ jobs }: Workflow): [name: string, job: Job & { steps: Step[] }][] {
  return Object.entries(jobs).flatMap(([name, job]) =>
    job.steps ? [[name, { ...job, steps: job.steps }]] : [],
  )
}

export function stepsOf(workflow: Workflow): Step[] {
  return jobsOf(workflow).flatMap(([, { steps }]) => steps)
}

/** All lines that a job's shell runs. */
export function commandsOf({ steps = [] }: Job): string {
  return steps.map(({ run = '' }) => run).join('\n')
}

/** Where an action is used: by a step, or by a job in the place of steps. */
export function usesOf(workflow: Workflow): string[] {
  const jobs = Object.values(workflow.jobs)
  return [...stepsOf(workflow), ...jobs].flatMap(({ uses }: Step | Job) => uses ?? [])
}

/** The steps of an action of GitHub's. */
export function stepsWith(workflow: Workflow, action: string): Step[] {
  return stepsOf(workflow).filter(({ uses }) => uses?.startsWith(`actions/${action}@`))
}

/** The names of the jobs of which `isBreach` holds. */
export function jobsWhere(workflow: Workflow, isBreach: (job: Job) => boolean): string[] {
  return jobsOf(workflow)
    .filter(([, job]) => isBreach(job))
    .map(([name]) => name)
}

/** What a job runs on: one system, or those of its matrix. */
export function runnersOf({ 'runs-on': runner = '', strategy }: Job): unknown[] {
  const rows = strategy?.matrix.include ?? []
  return runner === '${{ matrix.os }}' ? rows.map((row) => row['os']) : [runner]
}
