import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { attempts, harm } from '../sandbox/hostile/corpus.suite.ts';
import { casesOf, type HostileCase, lasting, sourceOf } from '../sandbox/hostile/hostile-case.suite.ts';
import { verdictOn } from '../sandbox/hostile/measure.suite.ts';
import { openWorld } from '../sandbox/hostile/world.suite.ts';
import { openTestBed } from '../sandbox/testing/test-bed.suite.ts';

/** Attempts through what only pieces have: CommonJS, the shims and the modules behind them. */
const ofPieces = casesOf({
  'require files': `reach(input, require);`,
  'load files by the loader': `reach(input, module.constructor._load);`,
  'create another require': `reach(input, module.constructor.createRequire(__filename));`,
  'replace the resolution of modules': lasting`module.constructor._resolveFilename = (name) => name; reach(input, require);`,
  'take files from the cache of modules': `must(Object.keys(require.cache).some((name) => name.includes('child'))); reach(input, require.cache);`,
  'ask the shims for files': `reach(input, globalThis[Symbol.for('quartermaster.modules')]);`,
  'take the socket of the channel from its writes': lasting`const { Duplex, Writable } = require('stream'); let socket;
      for (const it of [Duplex, Writable]) { const { write } = it.prototype; it.prototype.write = function (...all) { socket ??= this; return write.apply(this, all); }; }
      await context.files.write({ fileName: 'a', data: 'a' }); await fetch('https://a.example/').catch(() => {}); must(socket);
      await dial({ connect: (to) => new socket.constructor().connect(to) }, { port: input.tcp, host: '127.0.0.1' });`,
  'pollute what the host reads': lasting`Object.prototype.hosts = ['127.0.0.1']; Object.prototype.file = input.neighbourFile; reach(input, require);`,
  'send a request to this machine': `await fetch('http://127.0.0.1:' + input.tcp + '/');`,
});

/** An ES module can read what a piece cannot, and the host name of a piece is a constant. */
const usable = ({ body, head = '', does }: HostileCase): boolean =>
  !`${body}${head}`.includes('import.meta') && does !== 'see the host name';
const cases = [...Object.values(attempts).flat(), ...(harm['Time, memory and the process'] ?? []), ...ofPieces].filter(
  usable,
);
const isShared = ({ isLasting, ends }: HostileCase): boolean => isLasting === undefined && ends === undefined;

/** The handlers of cases as the actions of a piece. Their `need` gets the modules that pieces get. */
function pieceOf(group: readonly HostileCase[]): string {
  const actions = group.map((hostile) => {
    const handler = sourceOf(hostile)
      .replace(/const need = .*\n/, "const need = async (name) => require('node:' + name);\n")
      .replace('export const run = async (input, context)', 'const run = async (input, context)');
    const name = JSON.stringify(hostile.does);
    return `(() => {${handler}
      return { name: ${name}, props: { input: { type: 'JSON' } }, run: (context) => run(context.propsValue.input, context) };
    })()`;
  });
  return `exports.piece = { displayName: 'P', getContextInfo: () => ({ version: '2' }), actions: [${actions.join(',\n')}] };`;
}

test('the sandbox contains every hostile piece, and other runs continue', async () => {
  await using bed = await openTestBed({ isolation: 'sandbox', leastWaitMs: 60_000 });
  await using world = await openWorld(bed.folder);
  await writeFile(join(bed.folder, 'neighbour', 'run.mjs'), 'export const run = () => "well";');
  await bed.addBundle('shared', { 'piece.cjs': pieceOf(cases.filter(isShared)) });
  const found: Record<string, string> = {};
  let slow = 0;
  for (const [at, hostile] of cases.entries()) {
    const bundleId = isShared(hostile) ? 'shared' : `piece${at}`;
    if (!isShared(hostile)) await bed.addBundle(bundleId, { 'piece.cjs': pieceOf([hostile]) });
    const input = { mode: 'run', action: hostile.does, auth: null, props: { input: world.input } };
    const limits = { timeoutMs: 5_000, memoryMb: 512, maxRequests: 10, ...hostile.limits };
    const task = { handlerPath: 'piece.cjs', piece: { credentialsDigest: '' }, input, limits };
    const outcome = await bed.run(bundleId, task);
    // A piece returns an object.
    const isThrough = outcome.kind === 'returned' && JSON.stringify(outcome.output).includes('"through"');
    const isDenied = outcome.kind === 'failed';
    const verdict = isThrough ? 'open' : verdictOn(hostile, outcome, world.takeTraces());
    if (verdict === 'slow') slow += 1;
    else if (verdict !== 'contained' && !(isDenied && verdict.startsWith('ended'))) found[hostile.does] = verdict;
  }
  assert.deepEqual(found, {});
  assert.ok(cases.length >= 200 && slow <= cases.length / 10, `${cases.length} cases, ${slow} without enough time`);
  assert.deepEqual(await bed.run('neighbour', { limits: { timeoutMs: 60_000 } }), { kind: 'returned', output: 'well' });
});
