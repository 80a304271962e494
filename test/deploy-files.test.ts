import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from './support/service.ts';
import { requireTools, toolsNamed } from './support/system-tools.ts';

const run = promisify(execFile);
/** From 0 (best) to 10. The guide names it. */
const unitExposure = 3.0;

test('systemd accepts every line of the unit, and its exposure is the documented one', async (t) => {
  await requireTools(toolsNamed('systemd'));
  const unit = await readFile('deploy/quartermaster.service', 'utf8');
  const file = join(await temporaryFolder(t), 'quartermaster.service');
  // The program is not installed here.
  await writeFile(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
  const verified = await run('/usr/bin/systemd-analyze', ['verify', '--man=no', file]);
  assert.equal(verified.stdout + verified.stderr, '');
  const { stdout } = await run('/usr/bin/systemd-analyze', ['security', '--offline=yes', '--no-pager', file]);
  assert.equal(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]), unitExposure);
  const guide = await readFile('docs/guides/deploying.md', 'utf8');
  assert.ok(guide.includes(`${unitExposure.toFixed(1)} of 10`));
  assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=yes/m, 'V8 writes machine code');
});

test('the unit leaves bubblewrap each kind of namespace that the sandbox creates', async () => {
  const unit = await readFile('deploy/quartermaster.service', 'utf8');
  const allowed = /^RestrictNamespaces=(.*)$/m.exec(unit)?.[1]?.split(' ').sort();
  const source = await readFile('packages/server/src/processes/isolation/bubblewrap.ts', 'utf8');
  const created = [...source.matchAll(/'--unshare-([a-z]+)/g)].map(([, kind]) => kind ?? '');
  // Every sandbox also has a mount namespace.
  assert.deepEqual([...new Set(created), 'mnt'].sort(), allowed);
});
