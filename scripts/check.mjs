// Checks the tree without running the service: types, lint and format, generated pages. `test/architecture.test.ts`
// checks the imports between modules.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const steps = [
  ['types', 'tsc', ['-p', '.']],
  // `npm run test:all` installs the programs of others.
  ...(existsSync('test/compat/node_modules') ? [['types of test/compat', 'tsc', ['-p', 'test/compat']]] : []),
  ['types of the console', 'tsc', ['-p', 'packages/console']],
  ['lint and format', 'biome', ['ci', '--error-on-warnings', '.']],
  ['generated pages', 'node', ['scripts/reference.ts', '--check']],
  ['glossary', 'node', ['scripts/glossary.ts']],
];

let failed = false;
for (const [name, command, args] of steps) {
  const started = Date.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  const verdict = status === 0 ? 'ok' : 'FAILED';
  console.log(`check: ${name}: ${verdict} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  failed ||= status !== 0;
}
process.exitCode = failed ? 1 : 0;
