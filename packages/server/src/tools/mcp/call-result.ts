import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { Artifact, ExecuteResult } from '@quartermaster/contract';
import { isJsonObject } from '../../platform/json/json-object.ts';
import type { Problem } from '../../platform/problem.ts';
import { sentenceOf } from '../../platform/validation/validation-error.ts';
import { metaKeys } from './meta-keys.ts';
import { linkTo, type ReadMedia, readContents } from './result-contents.ts';

const maxDetails = 10;

/** The maximum number of characters of the JSON text of an output that a client has as structured content too. */
export const maxTextCharacters = 64 * 1024;

export interface ResultOptions {
  /**
   * Whether the client knows structured content. The specification asks for the text only for other clients, and a large output
   * would be sent twice.
   */
  readonly readsStructure: boolean;
}

/** The result of a successful run: the output as structured content and as JSON text, both without media, and the media. */
export async function resultOfRun(
  result: ExecuteResult,
  read: ReadMedia,
  { readsStructure }: ResultOptions = { readsStructure: true },
): Promise<CallToolResult> {
  const { run_id, duration_ms, output_violations, artifacts = [] } = result;
  const { data, contents } = await readContents(result, read);
  const text = { type: 'text' as const, text: JSON.stringify(data) ?? 'null' };
  const _meta = { [metaKeys.run]: { run_id, duration_ms } };
  if (artifacts.some(({ path }) => path === '')) return { isError: true, content: [storedWhole, ...contents], _meta };
  if (output_violations === undefined && isJsonObject(data)) {
    const texts = readsStructure ? shorten(text) : [text];
    return { content: [...texts, ...contents], structuredContent: data, _meta };
  }
  const drifted = driftedResult(text, { ..._meta, [metaKeys.outputViolations]: output_violations ?? [] });
  return { ...drifted, content: [...drifted.content, ...contents] };
}

/** Cuts the text of a large output, with a note that says where all of it is. */
function shorten(block: { readonly type: 'text'; readonly text: string }): ContentBlock[] {
  const { text } = block;
  if (text.length <= maxTextCharacters) return [block];
  const note = `The output has ${text.length} characters as JSON. The text above holds the first ${maxTextCharacters}; structuredContent holds all of them. Do not run the plugin again.`;
  return [
    { type: 'text', text: text.slice(0, maxTextCharacters).toWellFormed() },
    { type: 'text', text: note },
  ];
}

/** Marked as an error, because clients drop other results without the declared structure. */
const storedWhole: ContentBlock = {
  type: 'text',
  text: 'The plugin ran, but its output is too large for this answer. It is stored as JSON; the link leads to it. Do not run the plugin again.',
};

/**
 * Marks an output that violates its schema as an error. Clients discard a result without the declared structure unless it is marked as an error. The model should still see the output of a changed API.
 */
function driftedResult(text: ContentBlock, _meta: Record<string, unknown>): CallToolResult {
  const note: ContentBlock = {
    type: 'text',
    text: 'The plugin ran, but its output differs from its output schema. The output follows as it is.',
  };
  return { isError: true, content: [note, text], _meta };
}

/** The result of a run that failed or never began: text for the model, the code for programs. */
export function resultOfProblem({ code, message, details }: Problem, hint: string | null): CallToolResult {
  const reasons = (details ?? []).slice(0, maxDetails).flatMap(describeDetail);
  const lines = [message, ...reasons.filter((line) => line !== message), ...(hint === null ? [] : [hint])];
  const error = { code, message, ...(details === undefined ? {} : { details }) };
  const links = (details ?? []).flatMap(({ artifact }) => (isArtifact(artifact) ? [linkTo(artifact)] : []));
  return {
    isError: true,
    content: [{ type: 'text', text: lines.map(forModel).join('\n') }, ...links],
    _meta: { [metaKeys.error]: error },
  };
}

/** Only the answer of a failed run is an artifact in the details of a problem. */
function isArtifact(value: unknown): value is Artifact {
  return isJsonObject(value) && value.object === 'Artifact';
}

function describeDetail(detail: Readonly<Record<string, unknown>>): string[] {
  const { path, found, expected, message, upstream_status: status, excerpt } = detail;
  if (typeof excerpt === 'string') return [`The third party answered (status ${status ?? 'unknown'}): ${excerpt}`];
  if (typeof path !== 'string') return [];
  if (typeof found === 'string') return [sentenceOf({ path, found, expected: String(expected) })];
  return typeof message === 'string' ? [`${path}: ${message}`] : [];
}

/** Rewrites paths: the model knows its arguments, but not the request body of `/v1/execute`. */
function forModel(line: string): string {
  return line.replace(/^body\/input_params/, 'arguments').replace(/^body\/credentials/, 'credentials');
}
