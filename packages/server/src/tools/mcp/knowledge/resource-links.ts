import type { ResourceLink } from '@modelcontextprotocol/server';
import { writeAddress } from './chunk-address.ts';

/** The media type of every resource. */
export const resourceType = 'text/markdown';

/** The members of a search result that its link needs. */
interface LinkedPassage {
  readonly id: string;
  readonly title: string;
  readonly collection_id: string;
  readonly citation: Readonly<Record<string, unknown>>;
}

/** Links to the documents of passages, each once. */
export function linksTo(passages: readonly LinkedPassage[]): ResourceLink[] {
  return [...new Map(passages.map((passage) => [uriOf(passage), linkTo(passage)])).values()];
}

export function linkTo(passage: LinkedPassage): ResourceLink {
  const { title } = passage;
  return { type: 'resource_link', uri: uriOf(passage), name: title, title, mimeType: resourceType };
}

/** A passage without a document is linked itself. */
function uriOf({ id, collection_id: collectionId, citation: { record_id: recordId } }: LinkedPassage): string {
  if (typeof recordId !== 'string') return id;
  return writeAddress({ collectionId, kind: 'records', id: recordId, offset: 0 });
}
