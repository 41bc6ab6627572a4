#!/usr/bin/env node
'use strict'
// The command of the package. Older releases of Node read this file too, so it is written in what Node 6 understands.
const program = '../dist/server/start.mjs'
const wanted = require('../package.json').engines.node
const running = process.versions.node
const major = Number.parseInt(running, 10)
if (major === 24 || major >= 26) require(program).start()
else {
  process.stderr.write(`mountglass: needs Node ${wanted}; this is Node ${running}\n`)
  process.exitCode = 1
}
