import type { Collection } from '@quartermaster/contract';
import { answerTokens, boundTokens, envelopeTokens } from './answer-size.ts';
import type { KnowledgeStore } from './knowledge-store.ts';
import type { KnowledgeCaller } from './search-documents.ts';

const pageSize = 50;

/** Lists the collections of the project, or the one of the endpoint, within the default budget of an answer. */
export async function listCollections(
  { collections }: KnowledgeStore,
  { projectId, collectionId }: KnowledgeCaller,
  { cursor }: { readonly cursor?: string },
) {
  if (collectionId !== undefined) return { collections: [toEntry(await collections.get(projectId, collectionId))] };
  const page = await collections.list(projectId, {
    limit: pageSize,
    ...(cursor === undefined ? {} : { after: cursor }),
  });
  const entries = takeWithinBudget(page.items.map(toEntry));
  const last = entries.at(-1)?.id;
  const isEnd = entries.length === page.items.length && !page.hasMore;
  return { collections: entries, ...(isEnd || last === undefined ? {} : { next_cursor: last }) };
}

type Entry = ReturnType<typeof toEntry>;

/** Takes entries while they fit, at least one. */
function takeWithinBudget(entries: readonly Entry[]): readonly Entry[] {
  let left = answerTokens.default - envelopeTokens;
  return entries.filter((entry, nth) => {
    left -= boundTokens(entry, [entry.name, entry.description]);
    return left >= 0 || nth === 0;
  });
}

function toEntry({ collection_id: id, name, description, type, num_records: records }: Collection) {
  return { id, name, description, type, records };
}
