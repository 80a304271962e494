import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { metaKeys } from '../meta-keys.ts';
import { answerTokens } from './answer-size.ts';
import { fetchDocument } from './fetch-document.ts';
import type { KnowledgeStore } from './knowledge-store.ts';
import { resourceType } from './resource-links.ts';
import type { KnowledgeCaller } from './search-documents.ts';

/**
 * Reads a record or a chunk as a resource. A text that is too long for one answer ends with a second content, which names the URI of
 * the next part.
 * @throws Problem OBJECT_NOT_FOUND, equally for what does not exist and for what belongs to another project or collection
 */
export async function readResource(
  store: KnowledgeStore,
  caller: KnowledgeCaller,
  uri: string,
): Promise<ReadResourceResult> {
  const { text, url, metadata } = await fetchDocument(store, caller, { id: uri, max_tokens: answerTokens.most });
  const next = metadata.next_id;
  const rest =
    typeof next === 'string'
      ? [{ uri: next, mimeType: 'text/plain', text: `The text continues in the resource ${next}.` }]
      : [];
  return { contents: [{ uri, mimeType: resourceType, text, _meta: { [metaKeys.consoleUrl]: url } }, ...rest] };
}
