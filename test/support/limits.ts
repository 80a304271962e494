import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Limit } from '@quartermaster/contract';
import { type ServiceRequest, type StartedService, startService } from './service.ts';

export interface LimitedService {
  /** The service, which starts before the first test of the file. */
  readonly service: StartedService;
  /** Returns a limit that `GET /v1/limits` of the running service lists. */
  limit(name: string): Limit & { readonly value: number };
  /** Sends a request to an address with the key. */
  send(url: string, init?: RequestInit): Promise<LimitAnswer>;
}

export interface LimitAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: the responses of many operations
  readonly body: any;
}

/** Starts one service for all tests of a file, and reads its limits. */
export function limitedService(options: ServiceRequest = {}): LimitedService {
  const endings: Array<() => unknown> = [];
  let service: StartedService | undefined;
  let rows: readonly Limit[] = [];
  before(async () => {
    service = await startService({ after: (end) => endings.unshift(end) }, options);
    const { body } = await send(`${service.filesUrl}/v1/limits`);
    rows = body.data.limits;
  });
  after(async () => {
    for (const end of endings) await end();
  });
  async function send(url: string, init: RequestInit = {}): Promise<LimitAnswer> {
    assert.ok(service);
    const answer = await fetch(url, { ...init, headers: { Authorization: `Bearer ${service.key}`, ...init.headers } });
    return readAnswer(answer.status, await answer.text());
  }
  return {
    get service() {
      assert.ok(service);
      return service;
    },
    send,
    limit(name) {
      const row = rows.find((one) => one.name === name);
      assert.ok(row !== undefined && row.value !== null, `GET /v1/limits has no limit ${name}`);
      return { ...row, value: row.value };
    },
  };
}

export function readAnswer(status: number, text: string): LimitAnswer {
  const body = text.startsWith('{') ? JSON.parse(text) : undefined;
  return { status, code: body?.error?.code ?? null, message: body?.error?.message ?? text, body };
}

/** Asserts that a response above a limit has this status and code. */
export function assertRefused(
  row: Pick<Limit, 'status' | 'code'>,
  answer: Pick<LimitAnswer, 'status' | 'code' | 'message'>,
): void {
  assert.deepEqual([answer.status, answer.code], [row.status, row.code], answer.message);
}

/** Asserts that a response at a limit is a success. */
export function assertAccepted(answer: Pick<LimitAnswer, 'status' | 'message'>): void {
  assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status} ${answer.message}`);
}

export const json = (value: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: typeof value === 'string' ? value : JSON.stringify(value),
});
