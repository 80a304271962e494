import type { ExecuteRequest } from '@quartermaster/contract';
import { parseJson } from '../kernel/json/parse-json.ts';
import type { KeptRequest, RunKey } from './run-repository.ts';

/** Encrypts texts with the keys of the operator (ADR 0029). */
export interface RequestSealer {
  seal(plain: string, place: readonly string[]): { readonly text: string };
  /** @returns null when it does not open here */
  open(sealed: string, place: readonly string[]): string | null;
}

/**
 * What is stored of a request until its run has ended. With an encryption key all of it is encrypted. Without one a request
 * that holds credentials is not stored at all: an input may repeat them.
 */
export function keepRequest(
  request: ExecuteRequest,
  key: RunKey,
  { sealer, isRepeatable }: { sealer: RequestSealer | null; isRepeatable: boolean },
): KeptRequest {
  const text = JSON.stringify(pick(request));
  if (sealer !== null) return { text: sealer.seal(text, placeOf(key)).text, isSealed: true, isRepeatable };
  const hasCredentials = Object.keys(request.credentials).length > 0;
  return { text: hasCredentials ? null : text, isSealed: false, isRepeatable };
}

/** null: it was not kept, or was encrypted with a key that is not here. */
export function readKeptRequest(
  { text, isSealed }: KeptRequest,
  key: RunKey,
  sealer: RequestSealer | null,
): ExecuteRequest | null {
  if (text === null) return null;
  const plain = isSealed ? (sealer?.open(text, placeOf(key)) ?? null) : text;
  // Written by `keepRequest`.
  return plain === null ? null : (parseJson(plain) as ExecuteRequest);
}

/** Whatever else the client sent is not ours to keep. */
function pick({ bundle_id, plugin_id, input_params, credentials }: ExecuteRequest): ExecuteRequest {
  return { bundle_id, plugin_id, input_params, credentials };
}

/** Rows that are swapped do not open. */
function placeOf({ projectId, id }: RunKey): string[] {
  return ['run_request', projectId, id];
}
