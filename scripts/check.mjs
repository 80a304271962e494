// Checks the tree without running the service: types, lint and format, generated pages. `test/architecture.test.ts`
// checks the imports between modules.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

const types = [
  ['types', 'tsc', ['-p', '.']],
  // `npm run test:all` installs the programs of others.
  ...(existsSync('test/compat/node_modules') ? [['types of test/compat', 'tsc', ['-p', 'test/compat']]] : []),
  ['types of the console', 'tsc', ['-p', 'packages/console']],
];
const others = [
  ['lint and format', 'biome', ['ci', '--error-on-warnings', '.']],
  ['generated pages', 'node', ['scripts/reference.ts', '--check']],
  ['glossary', 'node', ['scripts/glossary.ts']],
];

async function run(steps) {
  for (const [name, command, args] of steps) {
    const started = Date.now();
    const [status] = await once(spawn(command, args, { stdio: 'inherit' }), 'exit');
    const verdict = status === 0 ? 'ok' : 'FAILED';
    console.log(`check: ${name}: ${verdict} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
    if (status !== 0) process.exitCode = 1;
  }
}

// Beside each other, because a single step does not keep two processors busy.
await Promise.all([run(types), run(others)]);
