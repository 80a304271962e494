import assert from 'node:assert/strict';
import { inEachTier } from './testing/hostile-tiers.suite.ts';

const forbiddenModules = [
  ...['fs', 'fs/promises', 'net', 'tls', 'dgram', 'dns', 'dns/promises', 'http', 'https', 'http2', 'child_process'],
  ...['worker_threads', 'cluster', 'inspector', 'inspector/promises', 'vm', 'v8', 'module', 'process', 'os', 'sqlite'],
  ...['wasi', 'ffi', 'repl', 'test', 'tty', 'trace_events', 'diagnostics_channel', 'async_hooks', 'perf_hooks'],
];

inEachTier('a handler cannot import a module that leads out of the process', async ({ runHostile }) => {
  const outcome = await runHostile(
    `export const run = async ({ names }) => {
       const through = [];
       for (const name of names.flatMap((it) => ['node:' + it, it])) {
         await import(name).then(() => through.push(name), (cause) => {
           if (!/may not import|No such built-in|Cannot find package/.test(cause.message)) through.push(cause.message);
         });
       }
       return through;
     };`,
    { input: { names: forbiddenModules } },
  );
  assert.deepEqual(outcome, { kind: 'returned', output: [] });
});

inEachTier('a CommonJS handler is restricted in the same way', async ({ bed }) => {
  await bed.addBundle('common', {
    'package.json': '{"type":"commonjs"}',
    'run.js': `const tries = [() => require('fs'), () => require('node:net'), () => module.constructor._load('node:fs'),
        () => module.constructor.createRequire(__filename)('fs'), () => process.mainModule.require('fs'),
        () => require('../neighbour/secret.txt'), () => module.constructor._extensions['.node']({}, '/x.node')];
      exports.run = () => tries.map((it) => { try { it(); return true; } catch { return false; } });`,
  });
  const outcome = await bed.run('common', { handlerPath: 'run.js' });
  assert.deepEqual(outcome, { kind: 'returned', output: Array(7).fill(false) });
});
