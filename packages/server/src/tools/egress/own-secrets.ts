import type { EgressRequest } from '../../platform/outbound.ts';
import type { EgressPolicy } from './broker.ts';

/** A key (`qmk_`), or an access token, refresh token or code of OAuth. */
const ownSecret = /qm(?:k(?:_|%5f)[0-9A-Za-z]{36}|[trc](?:_|%5f)[\w-]{43})/i;

/**
 * Whether a call would give a key or a token of Quartermaster to a third party: in its URL, its headers or its credentials, or in
 * the body of a plugin's call. Other calls send documents to models of the operator, whatever the documents contain.
 */
export function sendsOwnSecret(request: EgressRequest, { credentials, hostsBy }: EgressPolicy): boolean {
  const { url, query = [], headers = {}, body = '' } = request;
  const values = [url, ...query.flat(), ...Object.values(headers)];
  for (const secret of credentials.values()) values.push(secret.reveal());
  if (hostsBy !== undefined) values.push(typeof body === 'string' ? body : Buffer.from(body).toString('latin1'));
  return values.some((value) => ownSecret.test(value));
}
