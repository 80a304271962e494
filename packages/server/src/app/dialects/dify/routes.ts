import {
  type ChunkQuery,
  type DifyCondition,
  type DifyError,
  type DifyOperator,
  type DifyRecords,
  type DifyRetrieval,
  defaultResults,
  type ScoredChunk,
} from '@quartermaster/contract';
import { dialectOperations } from '@quartermaster/contract/operations';
import type { ProjectOwner } from '../../../platform/admission/owner.ts';
import type { Caller } from '../../../platform/caller.ts';
import { whileConnected } from '../../../platform/client-gone.ts';
import type { App } from '../../../platform/http/app.ts';
import type { CreateErrorWriter, ErrorResponse } from '../../../platform/http/error-writer.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { checkCollection } from '../../../platform/permissions.ts';
import { plainName } from '../../../platform/plain-name.ts';
import type { Problem } from '../../../platform/problem.ts';
import { fieldInvalid } from '../../../platform/validation/validation-error.ts';
import { withScope } from '../../../platform/with-scope.ts';
import type { NamedRecord } from '../../../stores/collections/records/record-repository.ts';
import { checkFilter, checkText } from '../../../stores/search/check-filter.ts';
import type { ChunkFilter } from '../../../stores/search/chunk-index.ts';

export interface DifyRoutesDeps extends DifyKnowledge {
  readonly guard: Guard;
  readonly createErrorWriter: CreateErrorWriter;
  readonly handleNotFound: (scope: App) => void;
}

/** The External Knowledge API of Dify, below `/dify`. Dify appends `/retrieval` to the endpoint `…/dify`. Source: ADR 0096. */
export function difyRoutes(
  scope: App,
  { guard, createErrorWriter, handleNotFound, ...knowledge }: DifyRoutesDeps,
): void {
  scope.setErrorHandler(createErrorWriter((problem, request) => toDifyError(problem, request.id)));
  handleNotFound(scope);
  scope.post('/retrieval', withScope(guard, dialectOperations.retrieveForDify), (request, reply) =>
    whileConnected(reply, (signal) => retrieveForDify(knowledge, guard.callerOf(request), request.body, signal)),
  );
}

/** The codes that Dify suggests. 1001, a malformed header, is not used: every refused key gets the same response. */
const codes = { keyRefused: 1002, knowledgeNotFound: 2001 } as const;

/**
 * Writes an error in the form of Dify. A refused key is 403 instead of 401, because Dify accepts a connection whose
 * test request gets any status except 403, 404 and 502.
 */
function toDifyError(problem: Problem, requestId: string): ErrorResponse {
  const status = problem.code === 'APIKEY_VALIDATION_FAILED' ? 403 : problem.status;
  const body: DifyError = {
    error_code: codeOf(problem, status),
    error_msg: problem.message,
    code: problem.code,
    request_id: requestId,
  };
  return { status, contentType: 'application/json; charset=utf-8', body };
}

function codeOf({ code }: Problem, status: number): number {
  if (status === 403) return codes.keyRefused;
  return code === 'OBJECT_NOT_FOUND' ? codes.knowledgeNotFound : status;
}

/** A query whose filter may have conditions on dates. */
type ChunkQuestion = Omit<ChunkQuery, 'filters'> & { readonly filters?: ChunkFilter };

/** The ports that the dialect translates to. */
interface DifyKnowledge {
  readonly chunks: {
    query(
      of: ProjectOwner & { readonly collectionIds: readonly string[] },
      body: ChunkQuestion,
      signal?: AbortSignal,
    ): Promise<{ readonly items: readonly ScoredChunk[] }>;
  };
  readonly records: {
    name(projectId: string, recordIds: readonly string[]): Promise<ReadonlyMap<string, NamedRecord>>;
  };
}

/** The threshold that Dify proposes. The best chunk is never below it. */
const proposedThreshold = 0.5;

/**
 * Answers a question of Dify with the chunks of one collection.
 * @throws the errors of the query of chunks
 */
async function retrieveForDify(
  { chunks, records }: DifyKnowledge,
  { projectId, keyId, permissions }: Caller,
  { knowledge_id: collectionId, query, retrieval_setting: setting, metadata_condition: condition }: DifyRetrieval,
  signal?: AbortSignal,
): Promise<DifyRecords> {
  checkCollection(permissions, collectionId);
  const filters = toFilter(condition);
  const body = {
    query_text: query,
    top_k: setting?.top_k ?? defaultResults,
    ...(filters === undefined ? {} : { filters }),
  };
  const { items } = await chunks.query({ projectId, keyId, collectionIds: [collectionId] }, body, signal);
  const found = scaleScores(items).filter(({ score }) => score >= (setting?.score_threshold ?? 0));
  const recordIds = new Set(found.flatMap(({ record_id: id }) => id ?? []));
  const names = await records.name(projectId, [...recordIds]);
  return { records: found.map((chunk) => toDifyRecord(chunk, names.get(chunk.record_id ?? ''))) };
}

/**
 * Scales scores so that the best chunk has 0.5 to 1. A share of the words of a question is often below 0.5 for the right
 * chunk, and the threshold that Dify proposes would exclude it. The order stays.
 */
function scaleScores(chunks: readonly ScoredChunk[]): ScoredChunk[] {
  const best = Math.max(...chunks.map(({ score }) => score));
  const factor = best > 0 ? (proposedThreshold + best * (1 - proposedThreshold)) / best : 0;
  return chunks.map((chunk) => ({ ...chunk, score: Math.min(1, chunk.score * factor) }));
}

function toDifyRecord(chunk: ScoredChunk, record: NamedRecord | undefined): DifyRecords['records'][number] {
  const path = record?.fileName ?? record?.url;
  const { page, heading_path: headings } = chunk.locator ?? {};
  return {
    content: chunk.content,
    score: chunk.score,
    title: plainName(record?.title || path || ''),
    metadata: {
      ...chunk.metadata,
      ...(chunk.record_id === null ? {} : { document_id: chunk.record_id }),
      chunk_id: chunk.chunk_id,
      ...(path == null ? {} : { path }),
      ...(page === undefined ? {} : { page }),
      ...(headings === undefined ? {} : { heading: headings.join(' › ') }),
    },
  };
}

/**
 * Translates the conditions of Dify to a metadata filter. Returns undefined without conditions.
 * @throws REQUEST_VALIDATION_ERROR for a value that does not fit its operator, for too many values, and for ill-formed text
 */
export function toFilter(condition: DifyRetrieval['metadata_condition']): ChunkFilter | undefined {
  const conditions = condition?.conditions ?? [];
  if (conditions.length === 0) return undefined;
  const filters = conditions.map(({ name, ...comparison }, index) => {
    const path = `body/metadata_condition/conditions/${index}`;
    for (const key of [name].flat()) checkText(key, `${path}/name`);
    for (const value of [comparison.value].flat()) checkText(value, `${path}/value`);
    const read = readComparison(comparison, `${path}/value`);
    if (!Array.isArray(name)) return { key: name, ...read };
    return { type: 'or' as const, filters: name.map((key) => ({ key, ...read })) };
  });
  const filter: ChunkFilter = { type: condition?.logical_operator ?? 'and', filters };
  checkFilter(filter, 'body/metadata_condition');
  return filter;
}

type Comparison<Condition = Exclude<ChunkFilter, { filters: unknown } | { field: unknown }>> = Condition extends unknown
  ? Omit<Condition, 'key'>
  : never;

const membership = { in: 'in', 'not in': 'nin' } as const;
const equality = { is: 'eq', 'is not': 'ne', '=': 'eq', '≠': 'ne' } as const;
const order = { '>': 'gt', '<': 'lt', '≥': 'gte', '≤': 'lte', after: 'gt', before: 'lt' } as const;
const dates = { after: 'after', before: 'before' } as const;
const partial = {
  contains: 'contains',
  'not contains': 'not_contains',
  'start with': 'starts_with',
  'end with': 'ends_with',
} as const;
const presence = { empty: 'empty', 'not empty': 'not_empty' } as const;
const textual: ReadonlySet<DifyOperator> = new Set(['is', 'is not']);

function readComparison(
  { comparison_operator: operator, value }: Omit<DifyCondition, 'name'>,
  path: string,
): Comparison {
  if (isIn(presence, operator)) return { type: presence[operator] };
  if (isIn(membership, operator)) return { type: membership[operator], value: readList(value, path) };
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw fieldInvalid(path, describe(value), `a string or a number for the operator "${operator}"`);
  }
  if (isIn(partial, operator)) {
    if (value === '') throw fieldInvalid(path, 'an empty text', `a text for the operator "${operator}"`);
    return { type: partial[operator], value: String(value) };
  }
  const operand = textual.has(operator) ? value : readNumber(value);
  if (isIn(equality, operator)) return { type: equality[operator], value: operand };
  if (isIn(dates, operator) && typeof operand === 'string') {
    if (isDate(operand)) return { type: dates[operator], value: operand };
    throw fieldInvalid(path, 'a text that is no date', `an ISO 8601 date or a number for the operator "${operator}"`);
  }
  return { type: order[operator], value: operand };
}

function isIn<Name extends string>(table: Readonly<Record<Name, unknown>>, name: string): name is Name {
  return Object.hasOwn(table, name);
}

/** Returns the number that a text contains, otherwise the text. Dify may send numbers and times as texts. */
function readNumber(value: string | number): string | number {
  return typeof value === 'string' && /^-?\d{1,20}(?:\.\d{1,20})?$/.test(value) ? Number(value) : value;
}

/** Whether a text starts like an ISO 8601 date and is a date, such as 2026-05 or 2026-05-01T10:00:00Z. */
function isDate(text: string): boolean {
  return /^\d{4}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Dify may send a list as one text with commas. */
function readList(value: DifyCondition['value'], path: string): Array<string | number> {
  const list = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : [value ?? []].flat();
  const values = list.filter((each) => each !== '');
  if (values.length === 0) throw fieldInvalid(path, describe(value), 'a list with at least one value');
  return values;
}

function describe(value: DifyCondition['value']): string {
  if (value === undefined || value === null) return 'nothing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
