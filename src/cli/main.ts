#!/usr/bin/env node
import { runCommand } from './run-command.ts'

const { stdout, stderr, env, platform, versions } = process
const context = { stdout, stderr, env, platform, versions, now: Date.now }
process.exitCode = await runCommand(process.argv.slice(2), context)
