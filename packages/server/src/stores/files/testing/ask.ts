import assert from 'node:assert/strict';
import type { FilesService } from './files-service.ts';
import { type Form, formBody, type Head, head } from './form.ts';

/** Uploads a file that must be accepted and returns its id. */
export async function upload(service: FilesService, form: Form = {}, options: Head = {}): Promise<string> {
  const body = formBody(form);
  const answer = await service.send([head(body, options), body]);
  assert.equal(answer.status, 200, answer.body.toString());
  return String(answer.json?.data.file_id);
}

export async function ask(service: FilesService, path: string, init: RequestInit & { project?: string } = {}) {
  const headers = { Authorization: `Bearer ${init.project ?? 'projecta'}`, ...init.headers };
  const response = await fetch(`${service.url}${path}`, { ...init, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}
