import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CgroupRefusal } from './cgroups.ts';
import { layoutOfVersion2 } from './version-2.ts';

/**
 * Ordinary files in place of those of the kernel, for requests that are refused before anything moves. `cgroup.system.test.ts`
 * tests the real kernel where it has version 2; ADR 0055 describes those machines.
 */
const usual = {
  'cgroup.controllers': 'cpuset cpu io memory pids\n',
  'cgroup.subtree_control': '',
  'cgroup.procs': `${process.pid}\n`,
  'cgroup.type': 'domain\n',
};

async function tryGroup(files: Partial<typeof usual>): Promise<{ refusal: string | undefined; written: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-cgroup-'));
  try {
    for (const [name, text] of Object.entries({ ...usual, ...files })) await writeFile(join(folder, name), text);
    let refusal: string | undefined;
    try {
      layoutOfVersion2({ unified: { folder, isHighest: false }, byController: {} });
    } catch (cause) {
      refusal = (cause as CgroupRefusal).message; // it throws nothing else
    }
    return { refusal, written: await readFile(join(folder, 'cgroup.subtree_control'), 'utf8') };
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('a group that already delegates memory and pids is used unchanged', async () => {
  const groupFiles = { 'cgroup.subtree_control': 'memory pids\n', 'cgroup.procs': '1\n' };
  assert.deepEqual(await tryGroup(groupFiles), { refusal: undefined, written: 'memory pids\n' });
});

test('a group without the controllers is refused', async () => {
  const { refusal, written } = await tryGroup({ 'cgroup.controllers': 'hugetlb\n' });
  assert.equal(refusal, 'no control groups offer memory and pids');
  assert.equal(written, '');
});

test('a group with other processes is not changed', async () => {
  for (const others of ['1', '0', String(process.ppid)]) {
    const { refusal, written } = await tryGroup({ 'cgroup.procs': `${process.pid}\n${others}\n` });
    assert.equal(refusal, 'other processes share the control group of the server', others);
    assert.equal(written, '');
  }
});

test('a group of threads is not changed', async () => {
  for (const type of ['threaded', 'domain threaded', 'domain invalid']) {
    const { refusal } = await tryGroup({ 'cgroup.type': `${type}\n` });
    assert.equal(refusal, 'the control group of the server holds threads of others');
  }
});

test('after a failed move the processes are moved back, and the controllers stay', async () => {
  // A folder that the kernel did not create has no cgroup.procs.
  const { refusal, written } = await tryGroup({});
  assert.equal(refusal, 'the processes of the server cannot be moved');
  assert.equal(written, '');
});
