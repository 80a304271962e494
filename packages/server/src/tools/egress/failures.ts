import type { EgressResult } from '../../platform/outbound.ts';
import type { EgressPolicy } from './broker.ts';
import { isAddressRefusal } from './connections.ts';
import type { ExchangeFailure } from './exchange.ts';
import type { Redactor } from './redact/redactor.ts';

/** Describes to the caller why no answer came. */
export function describeFailure(
  { error, beforeAnswer }: ExchangeFailure,
  redactor: Redactor,
  { hosts }: Pick<EgressPolicy, 'hosts'>,
): EgressResult {
  const code = codeOf(error);
  // Where the caller chooses the host, the message must not reveal which names exist in the internal network.
  if (hosts === 'any' && (isAddressRefusal(error) || code === 'ENOTFOUND')) return noPublicAddress;
  if (isAddressRefusal(error)) return { kind: 'refused', message: redactor.text(error.message) };
  const message = (code !== undefined && reasons[code]) || (beforeAnswer ? 'the call failed' : 'the answer broke off');
  return { kind: 'unreachable', message: code === undefined ? message : `${message} (${code})` };
}

const noPublicAddress = {
  kind: 'refused',
  message: 'the host name does not exist or resolves to an address that is not on the public internet',
} as const satisfies EgressResult;

/** Messages of the service. Those of the libraries contain addresses and may quote the request. */
const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ETIMEDOUT: 'no connection within the time limit',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is not trusted',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
};

/** The code of a system, TLS or protocol error; undefined when the value does not look like a code. */
export function codeOf(error: Error): string | undefined {
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined;
}
