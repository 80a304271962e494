import { MessagePort } from 'node:worker_threads';
import pg from 'pg';
import type { Database } from '../../database/database.ts';

/** The nth message of a kind, and the milliseconds from it to the end of the process. */
export interface KillPoint {
  readonly kind: string;
  readonly nth: number;
  readonly delay: number;
}

type Dialect = Database['dialect'];
type Kinds = ReadonlyArray<readonly [kind: string, text: RegExp]>;

/** Procedures and statements of both databases. */
const common: Kinds = [
  ['begin of a rebuild', /^insert into "index_rebuild"/],
  ['end of a step of a rebuild', /^update "index_rebuild"/],
  ['swap of a rebuild', /^update "index_segment" set "state" = (?:\?|\$1) where "collection_id"/],
  ['swap of a merge', /^update "index_segment" set "state" = (?:\?|\$1), "position"/],
  ['deletion of pages', /^delete from "index_page"/],
  ['deletion of a collection', /^update "collection" set "status"/],
  [
    'retirement of all its segments',
    /^update "index_segment" set "state" = (?:\?|\$1), "expires_at" = (?:\?|\$2) where "collection_id" = (?:\?|\$3) and "state" <>/,
  ],
  ['deletion of its chunks', /^delete from "chunk" where "seq" in \(select/],
  ['end of its deletion', /^delete from "collection"/],
  ['commit', /^commit$/],
  ['rollback', /^rollback$/],
];
const kinds: Readonly<Record<Dialect, Kinds>> = {
  sqlite: [
    ['addition', /^addChunks$/],
    ['removal', /^removeChunks$/],
    ['step of a rebuild', /^insertRebuilt$/],
    ['read of a merge', /^(startMerge|continueMerge)$/],
    ['pages of a merge', /^insert into "index_page"/],
    ...common,
  ],
  postgres: [
    ['addition', /^addition: live$/],
    ['removal', /^removal: live$/],
    ['step of a rebuild, or a change beside it', /: rebuilt$/],
    ['claim of a merge', /^insert into "index_segment"/],
    ['read of a merge', /^\s*select (?:id, header, array\(|\* from "index_page")/],
    ['pages of a merge', /^insert into index_page/],
    ...common,
  ],
};

/** The kinds of messages to a SQLite thread, or of statements to PostgreSQL. */
export function killKindsOf(dialect: Dialect): readonly string[] {
  return kinds[dialect].map(([kind]) => kind);
}

/** Calls `onStep` before this process sends a message of one of the kinds. */
export function watchSteps(dialect: Dialect, onStep: (kind: string) => void): void {
  const notify = (text: string) => {
    const kind = kinds[dialect].find(([, pattern]) => pattern.test(text))?.[0];
    if (kind !== undefined) onStep(kind);
  };
  if (dialect === 'sqlite') {
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = function (...values: unknown[]) {
      notify(textOf(values[0]));
      Reflect.apply(postMessage, this, values);
    };
    return;
  }
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...values: unknown[]) {
    notify(statementOf(values));
    return Reflect.apply(query, this, values);
  } as typeof query;
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  if (typeof message !== 'object' || message === null) return '';
  return String(Reflect.get(message, 'procedure') ?? Reflect.get(message, 'sql') ?? '');
}

/** One statement inserts the segment of an addition and that of a removal. The second parameter counts its chunks. */
function statementOf([first, values]: readonly unknown[]): string {
  const text = typeof first === 'string' ? first : Reflect.get(Object(first), 'text'); // a statement with a name
  const inserted = /^with segment as [^']*'(live|rebuilt)'/.exec(String(text));
  if (inserted === null || !Array.isArray(values)) return String(text);
  return `${values[1] === 0 ? 'removal' : 'addition'}: ${inserted[1]}`;
}
