// Asks one work tree every question, and writes a line of JSON for each: `record-program.ts TREE FILE ONLY`.
import { writeFileSync } from 'node:fs'

import { openDoor } from './doors.ts'
import type { Answer, Door, Question } from './doors.ts'
import { SCENES } from './questions.ts'
import type { Scene } from './questions.ts'
import type { Recorded } from './compare.ts'
import { createWorld, installClock, moveClock, openTree } from './worlds.ts'
import type { Tree, World } from './worlds.ts'

const startTimer = setTimeout
const stopTimer = clearTimeout

/** Returns a question as it is printed and compared: unique in its scene. */
function textOf({ method = 'GET', target, headers = {}, body, client, call }: Question): string {
  if (call) return `${call[0]}(${JSON.stringify(call.slice(1)).slice(1, -1)})`
  const rest = [
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(client === undefined ? [] : [`from ${client}`]),
    ...(body === undefined ? [] : [`body ${JSON.stringify(body)}`]),
  ]
  return [`${method} ${target}`, ...rest].join(' | ')
}

/** Records the answers of a scene through one door. */
async function recordDoor(tree: Tree, scene: Scene, name: string): Promise<Recorded[]> {
  const all = new Map(
    scene.questions.map((question, index) => {
      const place = scene.isSequence ? `${index + 1}. ` : ''
      return [`${scene.name}, ${name}: ${place}${textOf(question)}`, question]
    }),
  )
  let world: World
  let door: Door
  try {
    world = await createWorld(tree, scene.world)
    door = await openDoor(name, world)
  } catch (error) {
    return [...all.keys()].map((id) => ({ id, absent: messageOf(error) }))
  }
  for (const target of scene.warm ?? []) await door.ask({ target }).catch(() => undefined)
  await world.settled()
  const recorded: Recorded[] = []
  for (const [id, question] of all) recorded.push(await recordOne(id, question, world, door))
  world.handler.close()
  return recorded
}

async function recordOne(
  id: string,
  question: Question,
  { handler, upstream, settled }: World,
  door: Door,
): Promise<Recorded> {
  const { at, isRefreshed, ...changes } = question.before ?? {}
  Object.assign(upstream, changes)
  if (at !== undefined) moveClock(at)
  if (isRefreshed) await handler.refresh()
  let timer
  try {
    const late = new Promise<never>((_, reject) => {
      timer = startTimer(() => reject(new Error('no response in 60 s')), 60_000)
    })
    return { id, ...(await Promise.race([askExpanded(door, question), late])) }
  } catch (error) {
    return { id, absent: messageOf(error) }
  } finally {
    stopTimer(timer)
    await settled()
  }
}

/** Asks with the entity tags of targets in place of tokens such as `{{etag:/api/v1/latest}}`. */
async function askExpanded(door: Door, question: Question): Promise<Answer> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(question.headers ?? {})) {
    headers[name] = value
    for (const [token, target = ''] of value.matchAll(/\{\{etag:([^}]*)\}\}/g)) {
      const { headers: sent } = await door.ask({ target })
      headers[name] = value.replace(token, sent.find(([each]) => each === 'etag')?.[1] ?? '')
    }
  }
  return door.ask({ ...question, headers })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const [root = '.', file = '', only = ''] = process.argv.slice(2)
installClock()
Object.assign(globalThis, { fetch: () => Promise.reject(new Error('no network')) })
const tree = openTree(root)
const recorded: Recorded[] = []
for (const scene of SCENES) {
  for (const door of scene.doors) {
    if (!new RegExp(only).test(`${scene.name}, ${door}`)) continue
    recorded.push(...(await recordDoor(tree, scene, door)))
  }
}
writeFileSync(file, recorded.map((each) => JSON.stringify(each)).join('\n'))
process.exit(0)
