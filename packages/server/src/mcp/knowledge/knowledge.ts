import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { Static, TSchema } from 'typebox';
import type { Logger } from '../../kernel/log/logger.ts';
import { Problem } from '../../kernel/problem.ts';
import { resultOfProblem } from '../call-result.ts';
import { metaKeys } from '../meta-keys.ts';
import { fetchDocument } from './fetch-document.ts';
import type { KnowledgeStore } from './knowledge-store.ts';
import { listCollections } from './list-collections.ts';
import { type KnowledgeCaller, searchDocuments } from './search-documents.ts';
import { CollectionSearchArguments, CollectionsArguments, FetchArguments, SearchArguments } from './tool-arguments.ts';
import { collectionTools, knowledgeTools } from './tool-definitions.ts';

/** The caller of a knowledge tool. It always has a key of scope `collections`. */
export interface KnowledgeKey extends KnowledgeCaller {
  readonly keyId: string;
}

type Arguments = Readonly<Record<string, unknown>>;

export interface KnowledgeDeps {
  readonly store: KnowledgeStore;
  /**
   * Checks arguments against a schema.
   * @throws Problem REQUEST_VALIDATION_ERROR; its paths begin with `arguments`
   */
  readonly check: <Schema extends TSchema>(schema: Schema, sent: Arguments) => Static<Schema>;
  /** Counts a call by tool and outcome: `succeeded`, or the code of the error in lower case. */
  readonly countCall: (tool: string, outcome: string) => void;
  readonly logger: Logger;
}

/** The knowledge tools: the collections of a project, for models. */
export interface Knowledge {
  /** The definitions for an endpoint. They never depend on what is stored. */
  toolsOf(caller: KnowledgeKey): readonly Tool[];
  has(tool: string): boolean;
  /** Calls a tool. Every refusal is a result that the model can read; only a defect throws. */
  call(tool: string, sent: Arguments, caller: KnowledgeKey): Promise<CallToolResult>;
  /** @throws Problem OBJECT_NOT_FOUND, also for a collection of another project */
  checkCollection(projectId: string, collectionId: string): Promise<void>;
}

export function createKnowledge({ store, check, countCall, logger }: KnowledgeDeps): Knowledge {
  const names = new Set(knowledgeTools.map(({ name }) => name));

  async function run(tool: string, sent: Arguments, caller: KnowledgeKey): Promise<object> {
    // Some models send null for an argument that they leave out.
    const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
    if (tool === 'fetch') return await fetchDocument(store, caller, check(FetchArguments, given));
    if (tool === 'list_collections') {
      return await listCollections(store, caller, check(CollectionsArguments, given));
    }
    const schema = caller.collectionId === undefined ? SearchArguments : CollectionSearchArguments;
    return await searchDocuments(store, caller, check(schema, given));
  }

  function record(tool: string, caller: KnowledgeKey, { outcome, since }: { outcome: string; since: number }): void {
    countCall(tool, outcome);
    const { projectId: project, keyId: key, collectionId: collection } = caller;
    const duration_ms = Math.round(performance.now() - since);
    logger.info(
      { tool, project, key, ...(collection && { collection }), outcome, duration_ms },
      'knowledge tool called',
    );
  }

  return {
    toolsOf: ({ collectionId }) => (collectionId === undefined ? knowledgeTools : collectionTools),
    has: (tool) => names.has(tool),
    async call(tool, sent, caller) {
      const since = performance.now();
      try {
        const answer = await run(tool, sent, caller);
        record(tool, caller, { outcome: 'succeeded', since });
        return resultOf(answer, ignoredOf(sent, this.toolsOf(caller), tool));
      } catch (error) {
        const outcome = error instanceof Problem ? error.code.toLowerCase() : 'internal_server_error';
        record(tool, caller, { outcome, since });
        if (!(error instanceof Problem)) throw error;
        return resultOfProblem(error, null);
      }
    },
    checkCollection: async (projectId, collectionId) => {
      await store.collections.get(projectId, collectionId);
    },
  };
}

/** One text with the JSON of the structured content, as the connectors of ChatGPT require. */
function resultOf(answer: object, ignored: readonly string[]): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: { ...answer },
    ...(ignored.length === 0 ? {} : { _meta: { [metaKeys.ignoredArguments]: ignored } }),
  };
}

const maxIgnored = 10;
const maxNameLength = 60;

/** The names of arguments that the tool does not have. Clients add some, such as a reason. */
function ignoredOf(sent: Arguments, tools: readonly Tool[], name: string): string[] {
  const known = tools.find((tool) => tool.name === name)?.inputSchema.properties ?? {};
  const unknown = Object.keys(sent).filter((argument) => !Object.hasOwn(known, argument));
  return unknown.slice(0, maxIgnored).map((argument) => argument.slice(0, maxNameLength).toWellFormed());
}
