#!/usr/bin/env node
// The command `quartermaster`. It is plain JavaScript that every Node.js reads, so that an old one can name the remedy.
'use strict';

var required = 24;
if (Number(process.versions.node.split('.')[0]) < required) {
  console.error(
    'quartermaster: Node.js ' +
      required +
      ' or later is required; this is ' +
      process.versions.node +
      '. Install a newer Node.js (https://nodejs.org), then run the same command again.',
  );
  process.exit(69);
}
var path = require('node:path');
var main = path.join(__dirname, '../packages/cli/src/main.js');
if (process.argv[2] === 'start') start();
else import(require('node:url').pathToFileURL(main).href);

/** Replaces this process by one with the memory settings of the service, so that signals and the exit code are its own. */
function start() {
  var flags = ['--disable-sigusr1', '--max-semi-space-size=4', '--heap-growing-percent=20'];
  var data = process.env.QUARTERMASTER_DATA || 'data';
  var cache = require('node:fs').existsSync(data) ? { NODE_COMPILE_CACHE: path.join(data, 'cache/compiled') } : {};
  var environment = Object.assign({ MALLOC_ARENA_MAX: '2' }, cache, process.env);
  process.removeAllListeners('warning'); // execve is marked as experimental
  process.execve(process.execPath, [process.execPath].concat(flags, [main], process.argv.slice(2)), environment);
}
