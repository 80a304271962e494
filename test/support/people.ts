import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { signedIn } from './administrator.ts';
import type { StartedService } from './service.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** Adds a person who has signed in at an identity provider. It needs a service on SQLite. */
export async function addPerson(service: StartedService, name = 'Grace Hopper') {
  const id = `acct${randomUUID().replaceAll('-', '').slice(0, 20)}`;
  const [cookie, consoleToken] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
  const database = new DatabaseSync(join(service.folder, 'quartermaster.db'), { timeout: 10_000 });
  try {
    const [now, end] = [Date.now(), Date.now() + 3_600_000];
    database
      .prepare(`insert into account (id, name, email, is_administrator, issuer, subject, created_at, updated_at)
        values (?, ?, 'grace@example.com', 0, 'https://id.example', ?, ?, ?)`)
      .run(id, name, id, now, now);
    database
      .prepare(`insert into session (hash, console_hash, account_id, created_at, last_used_at, expires_at, id, client_address,
        user_agent) values (?, ?, ?, ?, ?, ?, ?, '', '')`)
      .run(hash(cookie), hash(consoleToken), id, now, now, end, `sess${id.slice(4)}`);
  } finally {
    database.close();
  }
  return { id, person: await signedIn(service, { cookie: `quartermaster_session=${cookie}`, consoleToken }) };
}
