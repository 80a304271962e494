import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Artifact } from '@quartermaster/contract';
import { type Answer, openPaidBundle } from './paid-bundle.ts';
import { type StartedService, startService } from './service.ts';

/** The credential of every run. */
export const token = 'cAnArY-token-0123456789';

/** Answers every request with this JSON. */
export const json =
  (text: string, status = 200): Answer =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  };

/** Starts a service with the bundle `paid`, whose third party gives this answer. */
export async function openWorld(t: TestContext, answer: Answer, settings: Record<string, string> = {}) {
  const paid = await openPaidBundle(t, answer);
  const service = await startService(t, { settings: { ...paid.settings, ...settings } });
  return { ...paid, service };
}

/** The error of a failed run. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details: ReadonlyArray<{ readonly artifact?: Artifact; readonly run_id: string }>;
}

/** Runs a plugin of the bundle `paid`. */
export async function execute(service: StartedService, pluginId: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.pluginsUrl}/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ bundle_id: 'paid', plugin_id: pluginId, input_params: {}, credentials: { token } }),
  });
  const text = await response.text();
  const { error, data } = JSON.parse(text) as { error: Failure; data: Record<string, unknown> };
  return { status: response.status, text, error, data };
}

/** Downloads the answer that an error names, and checks what the error says about it. */
export async function download(
  error: Failure | null | undefined,
  advice = 'Do not run the plugin again',
): Promise<string> {
  const artifact = error?.details?.[0]?.artifact;
  assert.ok(artifact, JSON.stringify(error));
  // A run record has no message.
  if (error?.message !== null) {
    assert.match(error?.message ?? '', new RegExp(`artifact ${artifact.artifact_id} .*${advice}`));
  }
  const content = Buffer.from(await (await fetch(artifact.file_url)).arrayBuffer());
  assert.equal(content.length, artifact.bytes);
  assert.equal(createHash('sha256').update(content).digest('hex'), artifact.sha256);
  return content.toString();
}
