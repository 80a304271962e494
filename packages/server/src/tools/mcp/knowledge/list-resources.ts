import type { ListResourcesResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import type { RecordItem } from '@quartermaster/contract';
import { mapWithConcurrency } from '../../../platform/concurrency/map-with-concurrency.ts';
import type { Page } from '../../../platform/page.ts';
import { Problem } from '../../../platform/problem.ts';
import { pageNotFound } from '../problems.ts';
import { writeAddress } from './chunk-address.ts';
import type { KnowledgeStore, NamedRecord } from './knowledge-store.ts';
import { titleOf } from './passage-names.ts';
import { resourceType } from './resource-links.ts';
import type { KnowledgeCaller } from './search-documents.ts';

/** The URIs of resources. Clients may build them from ids. */
export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    name: 'record',
    title: 'Document',
    mimeType: resourceType,
    uriTemplate: 'quartermaster://collections/{collection_id}/records/{record_id}',
    description: 'The text of a whole document. A long text ends with the URI of its next part.',
  },
  {
    name: 'chunk',
    title: 'Passage',
    mimeType: resourceType,
    uriTemplate: 'quartermaster://collections/{collection_id}/chunks/{chunk_id}',
    description: 'One passage of a document, as search returns it.',
  },
];

/** The limits of one page of resources. */
export const resourceLimits = { page: 100, collections: 20 } as const;
const concurrency = 4;

/** A collection, and the record after which its list starts. */
interface Start {
  readonly id: string;
  readonly after?: string | undefined;
  readonly records: number;
}

/**
 * Lists the records that have a text as resources, newest collection first. A page covers at most 20 collections, so it
 * may be empty although another page follows.
 * @throws Problem OBJECT_NOT_FOUND when the cursor is not one of a previous page
 */
export async function listResources(
  store: KnowledgeStore,
  caller: KnowledgeCaller,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const { projectId } = caller;
  const { starts, end } = await findStarts(store, caller, cursor);
  const chosen = takeUntilFull(starts);
  const lists = await mapWithConcurrency(chosen, concurrency, ({ id, after }) =>
    listRecords(store, projectId, { id, after }, caller.collectionId === undefined),
  );
  const { records, next } = joinPages(lists);
  const listed = records.filter(({ num_chunks: chunks }) => chunks > 0);
  const names = await store.records.name(
    projectId,
    listed.map(({ record_id: id }) => id),
  );
  const last = chosen.length < starts.length ? chosen.at(-1)?.id : end;
  const nextCursor = next ?? last;
  return {
    resources: listed.map((record) => toResource(record, names.get(record.record_id))),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
}

/** A collection that was deleted since the previous page ends the list of its records. For the collection of the endpoint, it is an error. */
async function listRecords(
  { records }: KnowledgeStore,
  projectId: string,
  { id, after }: Pick<Start, 'id' | 'after'>,
  mayBeDeleted: boolean,
): Promise<Page<RecordItem>> {
  try {
    return await records.list(projectId, id, {
      limit: resourceLimits.page,
      ...(after === undefined ? {} : { after }),
    });
  } catch (error) {
    if (mayBeDeleted && error instanceof Problem && error.code === 'OBJECT_NOT_FOUND')
      return { items: [], hasMore: false };
    throw error;
  }
}

const cursorShape = /^(coll[a-z0-9]{20})(?:\.(rcrd[a-z0-9]{20}))?$/;

/** Returns the collections of the page. `end` is the cursor after them, if more follow. */
async function findStarts(
  { collections }: KnowledgeStore,
  { projectId, collectionId }: KnowledgeCaller,
  cursor: string | undefined,
): Promise<{ readonly starts: readonly Start[]; readonly end: string | undefined }> {
  const [, from, after] = cursorShape.exec(cursor ?? '') ?? [];
  const isForeign = collectionId !== undefined && from !== undefined && from !== collectionId;
  if ((cursor !== undefined && from === undefined) || isForeign) throw pageNotFound(cursor ?? '');
  if (collectionId !== undefined) return { starts: [{ id: collectionId, after, records: 0 }], end: undefined };
  const page = await collections.list(projectId, {
    limit: resourceLimits.collections,
    ...(from === undefined ? {} : { after: from }),
  });
  const current = from === undefined || after === undefined ? [] : [{ id: from, after, records: 0 }];
  const following = page.items.flatMap(({ collection_id: id, num_records: records }) =>
    records === 0 ? [] : [{ id, records }],
  );
  const last = page.items.at(-1)?.collection_id;
  return { starts: [...current, ...following], end: page.hasMore ? last : undefined };
}

/** Takes collections until their records fill a page. */
function takeUntilFull(starts: readonly Start[]): readonly Start[] {
  let total = 0;
  return starts.filter(({ records }) => {
    const isNeeded = total < resourceLimits.page;
    total += records;
    return isNeeded;
  });
}

/** Joins the lists until the page is full. `next` is the cursor after it, unless every list is at its end. */
function joinPages(lists: ReadonlyArray<Page<RecordItem>>): { records: readonly RecordItem[]; next?: string } {
  const joined: RecordItem[] = [];
  for (const { items, hasMore } of lists) {
    joined.push(...items);
    const records = joined.slice(0, resourceLimits.page);
    const last = records.at(-1);
    if (last !== undefined && (hasMore || joined.length > resourceLimits.page)) {
      return { records, next: `${last.collection_id}.${last.record_id}` };
    }
  }
  return { records: joined };
}

function toResource(record: RecordItem, name: NamedRecord | undefined): Resource {
  const { collection_id: collectionId, record_id: id, updated_timestamp: updated } = record;
  const title = titleOf(name, record.type === 'text' ? record.content : '');
  return {
    uri: writeAddress({ collectionId, kind: 'records', id, offset: 0 }),
    name: title,
    title,
    mimeType: resourceType,
    annotations: { lastModified: new Date(updated).toISOString() },
  };
}
