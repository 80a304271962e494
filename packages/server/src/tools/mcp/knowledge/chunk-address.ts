import { passageNotFound } from '../problems.ts';

/** A record or a chunk, starting at a position. */
export interface Address {
  readonly collectionId: string;
  readonly kind: 'records' | 'chunks';
  /** The id of the record or chunk. */
  readonly id: string;
  /** In a record: the chunk after which the text starts. */
  readonly after?: string | undefined;
  /** The characters to leave out at the start. */
  readonly offset: number;
}

const shape =
  /^quartermaster:\/\/collections\/([a-z0-9]{24})\/(records|chunks)\/([a-z0-9]{24})(?:\?(?:after=([a-z0-9]{24}))?(?:&?offset=(\d{1,6}))?)?$/;

/** The longest text that can be an address, in characters. */
export const maxAddressLength = 256;

/**
 * Reads the id of a search result, which is the URI of a record or chunk as a resource.
 * @throws Problem OBJECT_NOT_FOUND for every other text
 */
export function readAddress(text: string): Address {
  const [, collectionId, kind, id, after, offset] = shape.exec(text.slice(0, maxAddressLength + 1)) ?? [];
  if (collectionId === undefined || id === undefined || (kind === 'chunks' && after !== undefined)) {
    throw passageNotFound(text);
  }
  return { collectionId, kind: kind === 'records' ? 'records' : 'chunks', id, after, offset: Number(offset ?? 0) };
}

/** Writes the URI that {@link readAddress} reads. */
export function writeAddress({ collectionId, kind, id, after, offset }: Address): string {
  const query = [...(after === undefined ? [] : [`after=${after}`]), ...(offset === 0 ? [] : [`offset=${offset}`])];
  const uri = `quartermaster://collections/${collectionId}/${kind}/${id}`;
  return query.length === 0 ? uri : `${uri}?${query.join('&')}`;
}

export interface Place {
  readonly projectId: string;
  readonly collectionId: string;
  readonly recordId: string | null;
  readonly chunkId?: string;
}

/** The page of the console that shows a record, at one chunk of it. Without a record: the page of the collection. */
export function consolePage(consoleUrl: string, { projectId, collectionId, recordId, chunkId }: Place): string {
  const base = consoleUrl.endsWith('/') ? consoleUrl.slice(0, -1) : consoleUrl;
  const page = `${base}/collections/${collectionId}`;
  const record = recordId === null ? '' : `/records/${recordId}`;
  const at = recordId === null || chunkId === undefined ? '' : `#${chunkId}`;
  return `${page}${record}?project=${projectId}${at}`;
}
