import type { Database } from '../../database/database.ts';

/** The nth message of a kind, and the milliseconds from it to the end of the process. */
export interface KillPoint {
  readonly kind: string;
  readonly nth: number;
  readonly delay: number;
}

const kinds: ReadonlyArray<readonly [kind: string, text: RegExp]> = [
  ['addition', /^addChunks$/],
  ['removal', /^removeChunks$/],
  ['step of a rebuild', /^rebuildSome$/],
  ['deletion of old rows', /^delete from "?full_text_index/],
  ['read of a merge', /^(startMerge|continueMerge)$/],
  ['pages of a merge', /^insert into "index_page"/],
  ['swap of a merge', /^update "index_segment" set "state" = \?, "position"/],
  ['deletion of pages', /^delete from "index_page"/],
  ['deletion of a collection', /^update "collection" set "status"/],
  [
    'retirement of all its segments',
    /^update "index_segment" set "state" = \?, "expires_at" = \? where "collection_id" = \? and "state" <>/,
  ],
  ['deletion of its chunks', /^delete from "chunk" where "seq" in \(select/],
  ['end of its deletion', /^delete from "collection"/],
  ['commit', /^commit$/],
  ['rollback', /^rollback$/],
];

/** Returns the kind of a message to a SQLite thread, if it is one of `killKinds`. */
export function kindOf(message: unknown): string | undefined {
  const text = textOf(message);
  return kinds.find(([, pattern]) => pattern.test(text))?.[0];
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  if (typeof message !== 'object' || message === null) return '';
  return String(Reflect.get(message, 'procedure') ?? Reflect.get(message, 'sql') ?? '');
}

export const killKinds = kinds.map(([kind]) => kind);

/** Returns whether a rebuild or a merge has something left to do. */
export async function findWork({ read }: Pick<Database, 'read'>): Promise<boolean> {
  const found = await Promise.all([
    read.selectFrom('index_rebuild').select('chunks').limit(1).execute(),
    read.selectFrom('full_text_place').select('number').limit(1).execute(),
    read.selectFrom('index_segment').select('id').where('state', '<>', 'live').limit(1).execute(),
  ]);
  return found.some((rows) => rows.length > 0);
}
