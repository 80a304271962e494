import { maxBodyBytes, maxHeaderBytes, maxHeaders } from '../http/create-app.ts';
import { jsonLimits } from '../http/json-body.ts';
import { lingerLimits } from '../http/lingering-close.ts';
import { maxRequestKinds } from '../http/request-metrics.ts';
import { maxWrongRequests } from '../idempotency/idempotency.ts';
import { streamLimits } from '../kernel/admission/stream-shares.ts';
import { type Limit, refused } from './limit.ts';

/** Limits of every request to either address. */
export const requestLimits = {
  header_bytes: {
    bounds: 'the path and of the names and values of all headers',
    unit: 'bytes',
    value: () => maxHeaderBytes,
    above: refused('INVALID_REQUEST', 431),
  },
  header_count: {
    bounds: 'headers of a request',
    unit: 'items',
    value: () => maxHeaders,
    above: refused('INVALID_REQUEST'),
  },
  json_body_bytes: {
    bounds: 'a JSON body',
    unit: 'bytes',
    value: () => maxBodyBytes,
    above: refused('FILE_TOO_LARGE'),
  },
  refused_body_bytes: {
    bounds: 'a body that is read and discarded after its request was refused, so that the client can read the response',
    unit: 'bytes',
    value: () => lingerLimits.bytes,
    above:
      'The connection is closed after the response. A connection whose body has not ended after 10 s is also closed.',
  },
  refused_bodies: {
    bounds: 'connections whose refused bodies are read and discarded at once, in one process',
    unit: 'items',
    value: () => lingerLimits.connections,
    above: 'Further connections are closed directly after the response.',
  },
  json_depth: {
    bounds: 'nested arrays and objects in a JSON body',
    unit: 'levels',
    value: () => jsonLimits.depth,
    above: refused('INVALID_REQUEST'),
  },
  json_members: {
    bounds: 'all objects and items of all arrays in a JSON body together',
    unit: 'members',
    value: () => jsonLimits.members,
    above: refused('INVALID_REQUEST'),
  },
  json_escaped_names: {
    bounds: 'member names with a quotation mark, a backslash or a control character in a JSON body',
    unit: 'items',
    value: () => jsonLimits.escapedNames,
    above: refused('INVALID_REQUEST'),
  },
  json_large_numbers: {
    bounds: 'integers beyond 2^53 in the JSON body of an execution or of MCP',
    unit: 'items',
    value: () => jsonLimits.largeNumbers,
    above: refused('INVALID_REQUEST'),
  },
  idempotency_wrong_requests: {
    bounds: 'requests with other content or credentials under one `Idempotency-Key` of one caller',
    unit: 'items',
    value: () => maxWrongRequests,
    above: refused('DUPLICATE_OBJECT'),
  },
  request_metric_series: {
    bounds: 'combinations of address, method, route and status in the metrics of requests, in one process',
    unit: 'items',
    value: () => maxRequestKinds,
    above: 'All further ones are counted as one, with the route `other`.',
  },
  event_streams_of_key: {
    bounds: 'event streams of one key or session, in one process',
    unit: 'items',
    value: () => streamLimits.ofKey,
    above: refused('TOO_MANY_REQUESTS'),
  },
  event_streams_of_project: {
    bounds: 'event streams of one project, in one process; those without a key count as one project',
    unit: 'items',
    value: () => streamLimits.ofProject,
    above: refused('TOO_MANY_REQUESTS'),
  },
  event_streams_of_process: {
    bounds: 'event streams of one process',
    unit: 'items',
    value: () => streamLimits.ofProcess,
    above: refused('TOO_MANY_REQUESTS'),
  },
} as const satisfies Record<string, Limit>;
