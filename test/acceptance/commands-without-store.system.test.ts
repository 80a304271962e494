import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { databaseFor } from '../support/postgres.ts';
import { runCommand } from '../support/run-command.ts';
import { startService, temporaryFolder } from '../support/service.ts';

/** Every command that works on a store. */
const commands = [
  'project create x',
  'project list',
  'project inputs x keep',
  'key create x --name y',
  'key list',
  'key revoke x',
  'key rotate x',
  'profile rotate',
  'profile forget --unreadable',
  'administrator link --reset',
  'fsck --hash --repair',
  'quarantine list',
  'quarantine sweep',
  'quarantine restore x',
  'quarantine purge x',
  'nodes',
  'verification status',
  'verification pause',
  'verification resume',
] as const;

const words = (command: string) => command.split(' ');

test('[store] every command refuses a folder without a store, names the setting, and creates nothing there', async (t) => {
  const folder = await temporaryFolder(t);
  const backup = `backup ${join(await temporaryFolder(t), 'copy')}`;
  for (const command of [...commands, backup]) {
    const { code, output, errors } = await runCommand({ folder }, ...words(command));
    assert.deepEqual([command, code, output], [command, 1, '']);
    assert.equal(
      errors,
      `quartermaster: No Quartermaster store found in ${folder}: it has no database quartermaster.db with the tables of a store. Set QUARTERMASTER_DATA to the data folder, or QUARTERMASTER_DATABASE_URL if the database is in PostgreSQL. To create a store, start the service.\n`,
    );
    assert.deepEqual([command, await readdir(folder)], [command, []]);
  }
  // An empty file is an empty SQLite database.
  await writeFile(join(folder, 'quartermaster.db'), '');
  for (const command of ['fsck', 'project list', backup]) {
    const { code, errors } = await runCommand({ folder }, ...words(command));
    assert.equal(code, 1);
    assert.match(errors, /^quartermaster: No Quartermaster store found in /);
    assert.deepEqual([command, await readdir(folder)], [command, ['quartermaster.db']]);
  }
});

test('[store] every command refuses a PostgreSQL database without a store, and creates no table', async (t) => {
  const url = await databaseFor(t);
  const folder = await temporaryFolder(t);
  const empty = { folder, settings: { DATABASE_URL: url } };
  const backup = `backup ${join(await temporaryFolder(t), 'copy')}`;
  for (const command of ['project list', 'fsck --repair', 'verification status', backup]) {
    const { code, output, errors } = await runCommand(empty, ...words(command));
    assert.deepEqual([command, code, output], [command, 1, '']);
    assert.match(
      errors,
      /^quartermaster: No Quartermaster store found in the database of QUARTERMASTER_DATABASE_URL: it has no table /,
    );
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(`select relname from pg_class where relnamespace = 'public'::regnamespace`);
  await client.end();
  assert.deepEqual(rows, []);
  assert.deepEqual(await readdir(folder), []);
});

test('[store] with PostgreSQL, a command on stored content refuses a folder without a store or of another store, and changes nothing', async (t) => {
  const url = await databaseFor(t);
  const settings = { DATABASE_URL: url };
  const service = await startService(t, { settings });
  await service.stop();
  const folder = await temporaryFolder(t);
  const backup = `backup ${join(await temporaryFolder(t), 'copy')}`;
  for (const command of ['fsck --repair', 'quarantine list', 'administrator link --reset', backup]) {
    const { code, errors } = await runCommand({ folder, settings }, ...words(command));
    assert.equal(code, 1);
    assert.equal(
      errors,
      `quartermaster: ${folder} is not the data folder of the database: its store.json is missing or belongs to another store. Nothing was changed. Set QUARTERMASTER_DATA to the data folder of the service.\n`,
    );
    assert.deepEqual([command, await readdir(folder)], [command, []]);
  }
  assert.equal((await runCommand({ folder: service.folder, settings }, 'fsck')).code, 0);
});
