#!/usr/bin/env node
import { runCommand } from './run-command.ts'

const { stdout, stderr, env, platform, versions } = process
const context = { stdout, stderr, env, platform, versions, now: Date.now }
const args = process.argv.slice(2)
process.exitCode = await runCommand(args, context)
// A server that failed to start must not wait for connections that its config file has opened.
if (args[0] === 'serve') setTimeout(() => process.exit(), 500).unref()
