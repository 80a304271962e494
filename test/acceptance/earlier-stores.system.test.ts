import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import { exists } from '../../packages/server/src/platform/disk/exists.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { runCommand } from '../support/run-command.ts';
import { startService, temporaryFolder } from '../support/service.ts';

/** The name of the first migration in stores of unreleased versions. */
const renameBaseline = "update schema_migration set name = '0001-first' where name like '0001-%'";

for (const database of ['SQLite', 'PostgreSQL'] as const) {
  test(`[upgrade] a store or backup of an unreleased version is refused with the remedy: ${database}`, async (t) => {
    const { url, drop } = database === 'SQLite' ? { url: null, drop: async () => {} } : await createTestDatabase();
    t.after(drop);
    const settings: Record<string, string> = url === null ? {} : { DATABASE_URL: url };
    const service = await startService(t, { settings });
    await service.client.files.upload(new Blob(['tea']), { purpose: 'record_file', name: 'tea.md' });
    const { folder } = service;
    const store = { folder, settings };
    const into = await temporaryFolder(t);
    const backup = join(into, 'backup');
    assert.equal((await runCommand(store, 'backup', backup)).code, 0);
    assert.equal(await service.stop(), 0);

    if (url === null) {
      using file = new DatabaseSync(join(folder, 'quartermaster.db'));
      file.exec(renameBaseline);
    } else {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(renameBaseline);
      await client.end();
    }
    for (const command of ['start', 'fsck', 'project list', `backup ${join(into, 'again')}`]) {
      const { code, output, errors } = await runCommand(store, ...command.split(' '));
      assert.deepEqual([command, code], [command, 1]);
      assert.match(
        output + errors,
        /this version cannot read it: set QUARTERMASTER_DATA to a new folder .* then upload/,
      );
    }
    assert.equal(await exists(join(into, 'again')), false);

    const facts = join(backup, 'backup.json');
    await writeFile(facts, JSON.stringify({ ...JSON.parse(await readFile(facts, 'utf8')), format: 2 }));
    const restored = await runCommand(store, 'restore', backup, join(into, 'restored'));
    assert.equal(restored.code, 1);
    assert.match(
      restored.errors,
      /this version cannot restore it: start the service with a new data folder, then upload/,
    );
    assert.equal(await exists(join(into, 'restored')), false);
  });
}
