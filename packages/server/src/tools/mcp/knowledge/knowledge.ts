import type {
  CallToolResult,
  ListResourcesResult,
  ReadResourceResult,
  ResourceLink,
  Tool,
} from '@modelcontextprotocol/server';
import type { Collection } from '@quartermaster/contract';
import type { Static, TSchema } from 'typebox';
import type { Logger } from '../../../platform/log/logger.ts';
import type { Permissions } from '../../../platform/permissions.ts';
import { Problem } from '../../../platform/problem.ts';
import { resultOfProblem } from '../call-result.ts';
import { ignoredArguments } from '../ignored-arguments.ts';
import { metaKeys } from '../meta-keys.ts';
import { answerTokens, boundTokens, envelopeTokens } from './answer-size.ts';
import { fetchDocument } from './fetch-document.ts';
import type { KnowledgeStore } from './knowledge-store.ts';
import { limitStore } from './limited-store.ts';
import { listResources } from './list-resources.ts';
import { linksTo, resourceType } from './resource-links.ts';
import { type KnowledgeCaller, searchDocuments } from './search-documents.ts';
import { CollectionSearchArguments, CollectionsArguments, FetchArguments, SearchArguments } from './tool-arguments.ts';
import { definitionsFor, knowledgeTools } from './tool-definitions.ts';

/** The caller of a knowledge tool. It always has a key of scope `collections:read`. */
export interface KnowledgeKey extends KnowledgeCaller {
  readonly keyId: string;
  readonly permissions: Permissions;
  /** Whether the definitions of `search` and `fetch` have only the arguments that ChatGPT allows. */
  readonly isChatGpt: boolean;
}

type Arguments = Readonly<Record<string, unknown>>;

export interface KnowledgeDeps {
  readonly store: KnowledgeStore;
  /**
   * Checks arguments against a schema.
   * @throws Problem REQUEST_VALIDATION_ERROR; its paths begin with `arguments`
   */
  readonly check: <Schema extends TSchema>(schema: Schema, sent: Arguments) => Static<Schema>;
  /**
   * Counts a call by tool, or method for resources, and by outcome: `succeeded`, `client_gone`, or the code of the error in
   * lower case.
   */
  readonly countCall: (tool: string, outcome: string) => void;
  readonly logger: Logger;
}

/** The knowledge tools and resources: the collections of a project, for models. */
export interface Knowledge {
  /** The definitions for an endpoint. They never depend on what is stored. */
  toolsOf(caller: KnowledgeKey): readonly Tool[];
  has(tool: string): boolean;
  /**
   * Calls a tool. Every refusal is a result that the model can read. Throws for a defect, and when the signal of the caller
   * aborts.
   */
  call(tool: string, sent: Arguments, caller: KnowledgeKey): Promise<CallToolResult>;
  /** @throws Problem OBJECT_NOT_FOUND for a cursor that is not one of a previous page */
  listResources(cursor: string | undefined, caller: KnowledgeKey): Promise<ListResourcesResult>;
  /** @throws Problem OBJECT_NOT_FOUND, also for a resource of another project or collection */
  readResource(uri: string, caller: KnowledgeKey): Promise<ReadResourceResult>;
  /** @throws Problem OBJECT_NOT_FOUND, also for a collection of another project */
  checkCollection(projectId: string, collectionId: string): Promise<void>;
}

export function createKnowledge({ store: whole, check, countCall, logger }: KnowledgeDeps): Knowledge {
  const storeOf = ({ permissions }: KnowledgeKey) => limitStore(whole, permissions);
  const names = new Set(knowledgeTools.map(({ name }) => name));

  async function run(tool: string, sent: Arguments, caller: KnowledgeKey): Promise<Answered> {
    // Some models send null for an argument that they leave out.
    const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
    const store = storeOf(caller);
    if (tool === 'fetch') return { answer: await fetchDocument(store, caller, check(FetchArguments, given)) };
    if (tool === 'list_collections') {
      return { answer: await listCollections(store, caller, check(CollectionsArguments, given)) };
    }
    const schema = caller.collectionId === undefined ? SearchArguments : CollectionSearchArguments;
    const answer = await searchDocuments(store, caller, check(schema, given));
    return { answer, links: caller.wantsLinks === true ? linksTo(answer.results) : [] };
  }

  /** Counts and logs a call when it has ended. */
  async function record<Result>(tool: string, caller: KnowledgeKey, work: () => Promise<Result>): Promise<Result> {
    const since = performance.now();
    let outcome = 'succeeded';
    try {
      return await work();
    } catch (error) {
      outcome = outcomeOf(error, caller);
      throw error;
    } finally {
      countCall(tool, outcome);
      const { projectId: project, keyId: key, collectionId: collection } = caller;
      const duration_ms = Math.round(performance.now() - since);
      logger.info(
        { event: 'knowledge_called', tool, project, key, ...(collection && { collection }), outcome, duration_ms },
        'knowledge tool called',
      );
    }
  }

  return {
    toolsOf: definitionsFor,
    has: (tool) => names.has(tool),
    async call(tool, sent, caller) {
      try {
        const answered = await record(tool, caller, () => run(tool, sent, caller));
        return { ...resultOf(answered), ...ignoredArguments(sent, argumentsOf(caller, tool)) };
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return resultOfProblem(error, null);
      }
    },
    listResources: (cursor, caller) =>
      record('resources/list', caller, () => listResources(storeOf(caller), caller, cursor)),
    readResource: (uri, caller) => record('resources/read', caller, () => readResource(storeOf(caller), caller, uri)),
    checkCollection: async (projectId, collectionId) => {
      await whole.collections.get(projectId, collectionId);
    },
  };
}

function outcomeOf(error: unknown, { signal }: KnowledgeKey): string {
  if (error instanceof Problem) return error.code.toLowerCase();
  return signal?.aborted === true ? 'client_gone' : 'internal_server_error';
}

interface Answered {
  readonly answer: object;
  readonly links?: readonly ResourceLink[];
}

/** One text with the JSON of the structured content, as the connectors of ChatGPT require. */
function resultOf({ answer, links = [] }: Answered): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(answer) }, ...links],
    structuredContent: { ...answer },
  };
}

/** The arguments that the tool has in any form. */
function argumentsOf(caller: KnowledgeKey, name: string): object {
  const accepted = definitionsFor({ ...caller, isChatGpt: false });
  return accepted.find((tool) => tool.name === name)?.inputSchema.properties ?? {};
}

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
