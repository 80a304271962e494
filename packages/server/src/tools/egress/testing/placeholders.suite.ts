import type { TestContext } from 'node:test';
import type { EgressRequest } from '../../../platform/outbound.ts';
import { Secret } from '../../../platform/secret.ts';
import type { PlaceholderPolicy } from '../placeholders/placeholder-policy.ts';
import { createPlaceholder, createPlaceholderFinder } from '../placeholders/placeholders.ts';
import { createRedactor } from '../redact/redactor.ts';
import { apiHost, apiOrigin, never, policyFor, type Received, startBroker, startServer } from './broker.suite.ts';

export const secret = 'xoxb-R3al/S3cret+token=0123456789';
/** A host of the bundle that may not get credentials. */
export const otherOrigin = 'https://files.example.com';

type Answer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string };

/** A broker that holds one placeholder, and a server for both hosts of its bundle. */
export async function holdPlaceholder(
  t: TestContext,
  {
    places = [],
    answer = () => ({}),
    ...changes
  }: Partial<PlaceholderPolicy> & { readonly answer?: (request: Received) => Answer } = {},
) {
  const server = await startServer(t, (_request, response) => {
    const { status = 200, headers = {}, body = 'ok' } = answer(server.requests.at(-1) as Received); // just received
    response.writeHead(status, headers).end(body);
  });
  const overrides = new Map([apiOrigin, otherOrigin].map((origin) => [origin, server.origin]));
  const broker = startBroker(t, { overrides });
  const placeholder = createPlaceholder();
  const secrets = new Map([[placeholder, new Secret(secret)]]);
  const finder = createPlaceholderFinder(secrets.keys());
  const hosts = new Set([apiHost]);
  const placeholders = { bundleId: 'piece_chat', secrets, finder, hosts, places, onPlaced() {}, ...changes };
  const policy = policyFor({
    hosts: new Set([apiHost, new URL(otherOrigin).host]),
    redactor: createRedactor([secret]),
    maxRetries: 1,
    placeholders,
  });
  const send = (request: Partial<EgressRequest>) =>
    broker.send({ method: 'GET', url: apiOrigin, ...request }, policy, never);
  return { placeholder, received: server.requests, send };
}

/** A request as the server saw it, in one text. */
export function textOf({ method, url, headers, body }: Received): string {
  return [method, url, JSON.stringify(headers), body].join('\n');
}
