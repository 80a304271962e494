// Runs before the command line, which is TypeScript. An old Node.js or a clone without packages gets a helpful message
// instead of a stack trace.
import { existsSync, readFileSync } from 'node:fs';
import { refuse } from './refuse.mjs';

const required = Number(/\d+/.exec(JSON.parse(readFileSync('package.json', 'utf8')).engines.node)[0]);
if (Number(process.versions.node.split('.')[0]) < required) {
  refuse(
    `Node.js ${required} or later is required; this is ${process.versions.node}. Run "npm start" once: it installs one. Then run the same command again.`,
  );
}
// npm writes this file at the end of an installation.
if (!existsSync('node_modules/.package-lock.json')) {
  refuse('The packages are not installed. Run "npm start" once: it installs them. Then run the same command again.');
}
