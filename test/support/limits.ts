import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Limit } from '@quartermaster/contract';
import { type Sending, type Sent, send } from './http.ts';
import { type ServiceRequest, type StartedService, startService } from './service.ts';

export interface LimitedService {
  /** The service, which starts before the first test of the file. */
  readonly service: StartedService;
  /** Returns a limit that `GET /v1/limits` of the running service lists. */
  limit(name: string): Limit & { readonly value: number };
  /** Sends a request to an address with the key. */
  send(url: string, init?: Sending): Promise<Sent>;
}

/** Starts one service for all tests of a file, and reads its limits. */
export function limitedService(options: ServiceRequest = {}): LimitedService {
  const endings: Array<() => unknown> = [];
  let service: StartedService | undefined;
  let rows: readonly Limit[] = [];
  before(async () => {
    service = await startService({ after: (end) => endings.unshift(end) }, options);
    const { body } = await send(`${service.filesUrl}/v1/limits`, { key: service.key });
    rows = body.data.limits;
  });
  after(async () => {
    for (const end of endings) await end();
  });
  return {
    get service() {
      assert.ok(service);
      return service;
    },
    send: (url, init = {}) => send(url, { key: service?.key, ...init }),
    limit(name) {
      const row = rows.find((one) => one.name === name);
      assert.ok(row !== undefined && row.value !== null, `GET /v1/limits has no limit ${name}`);
      return { ...row, value: row.value };
    },
  };
}

/** Asserts that a response above a limit has this status and code. */
export function assertRefused(
  row: Pick<Limit, 'status' | 'code'>,
  answer: Pick<Sent, 'status' | 'code' | 'message'>,
): void {
  assert.deepEqual([answer.status, answer.code], [row.status, row.code], answer.message);
}

/** Asserts that a response at a limit is a success. */
export function assertAccepted(answer: Pick<Sent, 'status' | 'message'>): void {
  assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status} ${answer.message}`);
}

export const json = (value: unknown): Sending =>
  typeof value === 'string'
    ? { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: value }
    : { json: value };
