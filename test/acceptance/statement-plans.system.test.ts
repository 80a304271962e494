import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { projectHeader } from '@quartermaster/contract';
import pg from 'pg';
import { beginSession } from '../support/administrator.ts';
import { readApiDocument } from '../support/api-document.ts';
import { type ExampleShell, listExamples, openExampleShell } from '../support/api-examples.ts';
import { fillTables, largeTables } from '../support/large-tables.ts';
import { allowApplication } from '../support/oauth.ts';
import { startPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/service.ts';

/** A statement may read this many rows of a table. Most tables have at least 5,000, of which a page of a list shows 20. */
const mostRows = 1_500;

/** Statements that read more in PostgreSQL, and why. */
const exceptions: ReadonlyArray<readonly [statement: RegExp, reason: string]> = [
  [/ as of_records on /, 'counts the records of the listed collections'],
  [
    /as "embedded".* group by "record"\."id"/,
    'counts the vectors of the listed records, one of which has 50,000 chunks',
  ],
  [
    / and "chunk"\."record_id" = \$\d+ and /,
    'no index has the chunks of a record by id; it reads those of the record, or of its collection',
  ],
  [
    / from "record" where .* and (?:\(case when record\.|lower\(|record\.type = )/,
    'searches the types and names of the records of a collection',
  ],
  [/^select "status", count\(\*\) as "records" from "record"/, 'counts all records for the metrics'],
  [/^select count\(\*\) as "rows".* limit \$\d+\) as "counted"$/, 'counts at most 10,000 rows of a list'],
  [
    /^select count\(\*\) as "every".* from "collection_vector"/,
    'counts all collections for the page of the embedding model',
  ],
  [/^select \* from "account" order by "id"$/, 'the list of people has no pages'],
  [/^select \* from "rate_limit" order by "id"$/, 'each process keeps all limits in memory'],
];

/** Statements that scan a table or an index with all of its rows in SQLite, and why. */
const scans: ReadonlyArray<readonly [statement: RegExp, reason: string]> = [
  [/^update account set administrator_source = /, 'a migration'],
  [/^select .* from "(?:project|api_key|rate_limit)" (?!where "id" =)/, 'each process keeps all of them in memory'],
  [/^select \* from "oauth_grant" where .*"revoked_at" is null/, 'each process keeps all of them in memory'],
  [/^select \* from "account" order by "id"$/, 'the list of people has no pages'],
  [/^select .* from "index_segment" (?!where)|^update "index_segment" set/, 'looks once at each start'],
  [/^select "key_id", count/, 'looks once at each start'],
  [/^(?:insert into|update) "?collection_vector/, 'a start, or an administrator, chooses a model'],
  [
    /^select count\(\*\) as "every".* from "collection_vector"/,
    'counts all collections for a page of the administrator',
  ],
  [/^select "status", count\(\*\) as "records" from "record"/, 'counts all records for the metrics'],
  [/^delete from "(?:session|oauth_grant|credential_profile)"/, 'an hourly clean-up'],
  [/ "credential_profile" (?:set|where) "status" = \?/, 'an hourly clean-up'],
];

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: { readonly enum?: readonly string[]; readonly type?: string; readonly minLength?: number };
}
interface Operation {
  readonly parameters?: readonly Parameter[];
}

/** Returns no query, and one for each value of each parameter. */
function queriesOf({ parameters = [] }: Operation): string[] {
  const queries = parameters.flatMap(({ in: place, name, schema }) => {
    if (place !== 'query') return [];
    const values = schema.enum ?? [
      { boolean: 'true', integer: '3' }[schema.type ?? ''] ?? 'a'.repeat(schema.minLength ?? 1),
    ];
    return values.map((value) => `?${name}=${encodeURIComponent(value)}`);
  });
  return ['', ...queries];
}

/** Creates the administrator of the service, a credential profile and an application. */
async function beginExamples({ service, ...shell }: ExampleShell) {
  const examples = await listExamples(service);
  for (const id of ['setUp', 'createCredentialProfile']) {
    const example = examples.find(({ operationId }) => operationId === id);
    const { code, output } = await shell.run(example?.source ?? '');
    assert.equal(code, 0, output);
  }
  await allowApplication(service);
}

/** Sends every GET request of both documents with each parameter. @returns the number of successful answers by the name of the operation */
async function readEverything({ service, variables }: ExampleShell, ids: Readonly<Record<string, string>>) {
  const { headers } = await beginSession(service);
  const callers = [
    { authorization: `Bearer ${service.key}` },
    { ...headers, [projectHeader]: variables.PROJECT_ID ?? '' },
  ];
  const answered = new Set<string>();
  for (const base of [service.filesUrl, service.pluginsUrl]) {
    const { paths } = await readApiDocument<{ paths: Record<string, { readonly get?: Operation }> }>(base);
    for (const [path, { get: operation }] of Object.entries(paths)) {
      if (operation === undefined) continue;
      const target = path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? variables[name.toUpperCase()] ?? 'x');
      for (const query of queriesOf(operation)) {
        for (const caller of callers) {
          const answer = await fetch(base + target + query, { headers: caller, redirect: 'manual' });
          await answer.body?.cancel();
          if (answer.ok) answered.add(path + query);
          if (answer.ok) break;
        }
      }
    }
  }
  return answered;
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}

function nodesOf(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Returns the statements in the log of a server, each with the most rows that it has read of a table. */
function readPlans(log: string) {
  const plans = new Map<string, number>();
  for (const [, json = ''] of log.matchAll(/ plan:\n(\t\{\n(?:\t.*\n)*?\t\})/g)) {
    const { 'Query Text': text, Plan } = JSON.parse(json.replaceAll('\n\t', '\n')) as {
      'Query Text': string;
      Plan: Node;
    };
    const reads = nodesOf(Plan).filter((node) => node['Relation Name'] !== undefined);
    const rows = reads.map(
      (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    );
    const statement = text.replaceAll(/\s+/g, ' ').trim();
    plans.set(statement, Math.max(plans.get(statement) ?? 0, ...rows));
  }
  return plans;
}

async function connect(t: TestContext, url: string) {
  const client = new pg.Client({ connectionString: url });
  // The server stops before the connection is closed.
  client.on('error', () => {});
  await client.connect();
  t.after(() => client.end().catch(() => {}));
  return client;
}

test('[postgres] no request for reading makes the server read many rows of a large table', async (t) => {
  const server = await startPostgres('auto_explain');
  t.after(server.stop);
  const admin = await connect(t, server.url);
  const settings = { log_min_duration: '0', log_analyze: 'on', log_timing: 'off', log_format: 'json' };
  for (const [name, value] of Object.entries(settings))
    await admin.query(`alter system set auto_explain.${name} = '${value}'`);
  const key = Buffer.alloc(32, 1).toString('base64');
  const shell = await openExampleShell(t, { settings: { DATABASE_URL: server.url, SEALING_KEY: key } });
  await beginExamples(shell);
  const ids = await fillTables(admin);
  await admin.query('select pg_reload_conf()');
  const answered = new Set([...(await readEverything(shell, {})), ...(await readEverything(shell, ids))]);
  t.diagnostic(`${answered.size} requests`);
  assert.ok(answered.size > 100, `${answered.size} requests were answered`);
  const plans = readPlans(await readFile(join(server.folder, 'log'), 'utf8'));
  t.diagnostic(`${plans.size} statements`);
  assert.ok(plans.size > 100, `${plans.size} statements`);
  const large = [...plans].filter(
    ([statement, rows]) => rows > mostRows && !exceptions.some(([known]) => known.test(statement)),
  );
  assert.deepEqual(
    large.map(([statement, rows]) => `${rows} rows: ${statement}`),
    [],
  );
});

/** Returns no plan for a statement of a migration, whose tables are gone. */
function explain(database: DatabaseSync, statement: string, values: readonly SQLInputValue[]) {
  try {
    return database.prepare(`explain query plan ${statement}`).all(...values);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('no such ')) return [];
    throw error;
  }
}

test('no request for reading makes SQLite scan a large table', async (t) => {
  const noted = join(await temporaryFolder(t), 'statements');
  const preload = `NODE_OPTIONS=--import=${resolve(import.meta.dirname, '../support/note-statements.ts')}`;
  const shell = await openExampleShell(t, { launcher: ['/usr/bin/env', preload, `NOTED_STATEMENTS=${noted}`] });
  await beginExamples(shell);
  const answered = await readEverything(shell, {});
  assert.ok(answered.size > 100, `${answered.size} requests were answered`);
  const lines = (await readFile(noted, 'utf8')).trim().split('\n');
  const statements = new Map(
    lines.map((line) => [String(JSON.parse(line)[0]), JSON.parse(line).slice(1) as SQLInputValue[]]),
  );
  const database = new DatabaseSync(join(shell.service.folder, 'quartermaster.db'));
  t.after(() => database.close());
  const partial = database
    .prepare("select name from sqlite_master where type = 'index' and sql like '% where %'")
    .all();
  // Only the rows that are wanted have an entry.
  const bounded = new Set(partial.map(({ name }) => name));
  let explained = 0;
  const found = [...statements].flatMap(([statement, values]) => {
    if (!/^\s*(?:select|with|update|delete|insert)\b/i.test(statement)) return [];
    const plan = explain(database, statement, values);
    explained += 1;
    const text = statement.replaceAll(/\s+/g, ' ').trim();
    return plan
      .map(({ detail }) => String(detail))
      .filter((line) => largeTables.has(/^SCAN (\w+)/.exec(line)?.[1] ?? ''))
      .filter((line) => !bounded.has(/ INDEX (\w+)/.exec(line)?.[1] ?? ''))
      .filter(() => !scans.some(([known]) => known.test(text)))
      .map((line) => `${line}: ${text}`);
  });
  t.diagnostic(`${explained} of ${statements.size} statements`);
  assert.ok(explained > 100, `${explained} statements`);
  assert.deepEqual(found, []);
});
