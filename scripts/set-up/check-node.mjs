// Runs before the command line, which is TypeScript. An old Node.js gets a helpful message instead of a stack trace.
import { readFileSync } from 'node:fs';
import { refuse } from './refuse.mjs';

const required = Number(/\d+/.exec(JSON.parse(readFileSync('package.json', 'utf8')).engines.node)[0]);
if (Number(process.versions.node.split('.')[0]) < required) {
  refuse(
    `Node.js ${required} or later is required; this is ${process.versions.node}. Run "npm start" once: it installs one.`,
  );
}
