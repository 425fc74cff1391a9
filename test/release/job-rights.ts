import { commandsOf } from './workflow.ts'
import type { Job } from './workflow.ts'

/** What brings in, or runs, code that somebody outside of this repository wrote, and this repository's own. */
const FOREIGN_CODE =
  /\b(npm (ci|i|install|update|exec|run|test)|npx|pipx|pip|corepack|curl|wget)\b|(^|\s)\.?\/?\.ci\//m

/** What a job may do, as pairs of a scope and an access. */
export function rightsOf({ permissions = {} }: Job): [scope: string, access: string][] {
  return typeof permissions === 'string' ? [['all', permissions]] : Object.entries(permissions)
}

/** Whether a job gets all that a workflow may: it runs others' code, and has rights that can do harm. */
export function mixesRights(job: Job): boolean {
  const canWrite = rightsOf(job).some(([, access]) => access.startsWith('write'))
  const checksOut = job.steps?.some(({ uses }) => uses?.startsWith('actions/checkout@'))
  return canWrite && (checksOut === true || FOREIGN_CODE.test(commandsOf(job)))
}

/** Whether a job can say who it is without a reason, or publishes with more rights or less review than it should. */
export function isUnsafeStage(job: Job): boolean {
  const rights = rightsOf(job).map(String)
  const isPublishing = /\bnpm (stage )?publish\b/.test(commandsOf(job))
  if (!isPublishing) return rights.includes('id-token,write')
  return job.environment !== 'npm' || job.needs === undefined || rights.length > 1
}
