import type { Random } from '../support/random.ts';
import { asciiRuns, coreAmplifiers } from './amplifiers.ts';
import type { HoldCase } from './hold-case.ts';
import { headerText } from './operation-cases.ts';
import type { RawRequest } from './send-raw.ts';

/** Headers that the service reads, each with a request for which the service reads it. */
const readHeaders: ReadonlyArray<readonly [name: string, request: Omit<RawRequest, 'headers'>]> = [
  ...['Authorization', 'Cookie', 'Origin', 'X-Forwarded-For', 'X-Request-Id', 'If-None-Match', 'Accept', 'Range'].map(
    (name) => [name, { address: 'files', method: 'GET', path: '/v1/files?limit=1' }] as const,
  ),
  ['Range', { address: 'files', method: 'GET', path: '/v1/files/{file_id}/content' }],
  ['If-Range', { address: 'files', method: 'GET', path: '/v1/files/{file_id}/content' }],
  ['If-None-Match', { address: 'plugins', method: 'GET', path: '/v1/bundles' }],
  ['Accept-Language', { address: 'plugins', method: 'GET', path: '/v1/bundles' }],
  ['Content-Type', { address: 'plugins', method: 'POST', path: '/v1/execute', body: '{}' }],
  ['Content-Encoding', { address: 'plugins', method: 'POST', path: '/v1/execute', body: '{}' }],
  ['Idempotency-Key', { address: 'files', method: 'POST', path: '/v1/collections', body: '{}' }],
  ['Cookie', { address: 'files', method: 'GET', path: '/v1/session' }],
  ['Origin', { address: 'files', method: 'POST', path: '/v1/session', body: '{"name":"a","password":"a"}' }],
  ['Accept-Encoding', { address: 'files', method: 'GET', path: '/console/' }],
];

/** Headers, query strings and paths of the largest size that Node's parser allows. */
export function headerCases({ slice, random }: { slice: boolean; random: Random }): HoldCase[] {
  const all = [...coreAmplifiers, ...asciiRuns];
  const some = () => (slice ? random.shuffle(all).slice(0, 8) : all);
  const runs = readHeaders.flatMap(([name, request]) =>
    some().map((each) => headers(name, each.name, request, { [name]: headerText(each.text(12_000)) })),
  );
  const structures: HoldCase[] = (['files', 'plugins'] as const).flatMap((address) => [
    headers(address, 'many headers', { address, method: 'GET', path: '/v1/version' }, many(700)),
    ...['a=1&', 'limit=1&', 'limit[]=1&', '%25', '&', '=', 'a[b]=1&', 'after=%E2%80%AE&'].map((unit) =>
      path(
        address,
        `query of ${unit}`,
        `/v1/${address === 'files' ? 'files' : 'plugins'}?${unit.repeat(12_000 / unit.length)}`,
      ),
    ),
    ...['/', '/a', '%2f', '../', '%2e%2e/', ';a', '%00', '*', '%ff', '%e2'].map((unit) =>
      path(address, `path of ${unit}`, `/v1/files/${unit.repeat(12_000 / unit.length)}`),
    ),
  ]);
  return [...runs, ...structures];
}

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, '1']));
}

function headers(
  name: string,
  payload: string,
  request: Omit<RawRequest, 'headers'>,
  sent: Record<string, string>,
): HoldCase {
  return {
    target: `header ${name} of ${request.address} ${request.path}`,
    payload,
    send: ({ sender, ids }) =>
      sender.send({ ...request, path: request.path.replace('{file_id}', ids.file_id ?? ''), headers: sent }),
  };
}

function path(address: 'files' | 'plugins', payload: string, sent: string): HoldCase {
  return {
    target: `${address}: paths and query strings`,
    payload,
    send: ({ sender }) => sender.send({ address, method: 'GET', path: sent }),
  };
}
