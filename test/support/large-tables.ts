/** Rows that are copied many times, so that each is one that the service could have written. */
interface Copies {
  readonly table: string;
  readonly count: number;
  /** The copied row. Default: any. */
  readonly where?: string;
  /** Expressions of the columns that differ from those of the copied row `t`. `i` counts the copies from 1. */
  readonly set: Readonly<Record<string, string>>;
  /** The column whose value the database assigns. */
  readonly counter?: string;
}

const projects = 999;
const [collections, records, chunks] = [5_000, 20_000, 200_000];
/** These copies of records and of chunks belong to the first copy of a collection and of a record. */
const [recordsOfLargest, chunksOfLargest] = [5_000, 50_000];

const number = (n: string) => `right('000000000000' || (${n}), 12)`;
/** An id is its first half, which is the time, and a number. */
const numbered = (column: string, n = 'i') => `substr(t.${column}, 1, 12) || ${number(n)}`;
/** Every 97th row belongs to the project of the copied row. */
const project = (n = 'i') =>
  `case when (${n}) % 97 = 1 then t.project_id else ${numbered('project_id', `1 + (${n}) % ${projects}`)} end`;
const collectionOfRecord = (n: string) =>
  `(case when ${n} <= ${recordsOfLargest} then 1 else 1 + ${n} % ${collections} end)`;
const recordOfChunk = `(case when i <= ${chunksOfLargest} then 1 else 1 + i % ${records} end)`;
const anyChunk = '(select min(id) from chunk where record_id is not null)';
const ofChunk = (column: string) => `(select ${column} from chunk where id = ${anyChunk})`;
const inCollection = (n: string) => `substr(${ofChunk('collection_id')}, 1, 12) || ${number(n)}`;
const first = number('1');

/** Parents come before the rows that name them. */
const all: readonly Copies[] = [
  { table: 'project', count: projects, set: { id: numbered('id'), name: "'project ' || i" } },
  { table: 'project_usage', count: projects, set: { project_id: numbered('project_id') } },
  {
    table: 'api_key',
    count: 5_000,
    set: { id: numbered('id'), hash: 't.hash || i', project_id: project(), maker_id: numbered('id', 'i / 2') },
  },
  {
    table: 'account',
    count: 2_000,
    set: { id: numbered('id'), issuer: "'x'", subject: "'s' || i", password_hash: 'null' },
  },
  {
    table: 'session',
    count: 2_000,
    set: { hash: 't.hash || i', id: numbered('id'), account_id: numbered('account_id') },
  },
  { table: 'credential_profile', count: 3_000, set: { id: numbered('id'), project_id: project(), name: "'n' || i" } },
  { table: 'blob', count: 20_000, set: { id: numbered('id'), project_id: project(), sha256: 't.sha256 || i' } },
  {
    table: 'file',
    count: 20_000,
    set: { id: numbered('id'), blob_id: numbered('blob_id'), project_id: project(), sha256: 't.sha256 || i' },
  },
  { table: 'idempotency', count: 5_000, set: { key: 't.key || i', project_id: project() } },
  {
    table: 'collection',
    count: collections,
    where: `id = ${ofChunk('collection_id')}`,
    set: { id: numbered('id'), project_id: project() },
  },
  {
    table: 'record',
    count: records,
    where: `id = ${ofChunk('record_id')}`,
    set: {
      id: numbered('id'),
      collection_id: numbered('collection_id', collectionOfRecord('i')),
      project_id: project(collectionOfRecord('i')),
      file_id: numbered('file_id'),
    },
  },
  {
    table: 'record_row',
    count: 20_000,
    set: {
      id: numbered('id'),
      record_id: `substr(${ofChunk('record_id')}, 1, 12) || ${number('i')}`,
      collection_id: inCollection(collectionOfRecord('i')),
    },
  },
  {
    table: 'chunk',
    count: chunks,
    where: `id = ${anyChunk}`,
    counter: 'seq',
    set: {
      id: numbered('id'),
      record_id: numbered('record_id', recordOfChunk),
      collection_id: numbered('collection_id', collectionOfRecord(recordOfChunk)),
      project_id: project(collectionOfRecord(recordOfChunk)),
      ordinal: 'i',
    },
  },
  { table: 'index_segment', count: collections, counter: 'id', set: { collection_id: inCollection('i') } },
  {
    table: 'collection_vector',
    count: collections,
    where: 'slot = 0',
    set: { id: inCollection('i'), collection_id: inCollection('i'), project_id: project() },
  },
  {
    table: 'chunk_vector',
    count: 150_000,
    where: 'vector is not null',
    set: {
      seq: `(select seq from chunk where id like '%' || ${first}) + i - 1`,
      collection_id: inCollection(collectionOfRecord(recordOfChunk)),
      change: 't.change + i',
      text_key: 't.text_key + i',
    },
  },
  { table: 'run', count: 20_000, set: { id: numbered('id'), project_id: project() } },
  { table: 'audit_event', count: 20_000, set: { id: numbered('id'), project_id: project() } },
  { table: 'oauth_client', count: 2_000, set: { id: 't.id || i' } },
  { table: 'oauth_grant', count: 5_000, set: { id: numbered('id'), project_id: project() } },
  { table: 'oauth_record', count: 20_000, set: { hash: 't.hash || i', project_id: project() } },
  { table: 'rate_limit', count: 2_000, set: { id: numbered('id'), project_id: project() } },
];

/** The tables with many rows. */
export const largeTables: ReadonlySet<string> = new Set(all.map(({ table }) => table));

/** What a test needs of a client of PostgreSQL. */
interface Client {
  query(
    text: string,
  ): Promise<{ rows: Array<Record<string, string>>; rowCount: number | null; fields: Array<{ name: string }> }>;
}

/**
 * Adds many rows to a store in PostgreSQL that has at least one row of each table: those of other projects, and a large collection with
 * a large record of the same project. @returns the ids of both and of a chunk
 */
export async function fillTables(
  db: Client,
): Promise<Readonly<Record<'collection_id' | 'record_id' | 'chunk_id', string>>> {
  // Foreign keys are not checked, which takes most of the time.
  await db.query('set session_replication_role = replica');
  for (const { table, count, where = 'true', set, counter } of all) {
    const { fields } = await db.query(`select * from ${table} limit 0`);
    const names = fields.map(({ name }) => name).filter((name) => name !== counter);
    const values = names.map((name) => set[name] ?? `t.${name}`);
    const { rowCount } = await db.query(`insert into ${table} (${names.join(', ')}) select ${values.join(', ')}
      from (select * from ${table} where ${where} limit 1) as t cross join generate_series(1, ${count}) as series (i)`);
    if (rowCount !== count) throw new Error(`the table ${table} has no row to copy`);
  }
  await db.query('analyze');
  const { rows } = await db.query(
    `select collection_id, record_id, id as chunk_id from chunk where id like '%' || ${first}`,
  );
  const { collection_id = '', record_id = '', chunk_id = '' } = rows[0] ?? {};
  return { collection_id, record_id, chunk_id };
}
