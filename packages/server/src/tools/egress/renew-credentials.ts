import type { Secret } from '../../platform/secret.ts';
import type { Broker, EgressPolicy } from './broker.ts';
import { isRefused } from './signing/authorise.ts';
import { derivedSecrets } from './signing/derived-secrets.ts';
import { prepareInjection } from './signing/inject.ts';

/**
 * Repeats a request once with renewed credentials when the upstream has refused those that it received. A 401 means that the request had
 * no effect. Later requests of the same run use the renewed credentials from the beginning.
 */
export function withRenewal(send: Broker['send']): Broker['send'] {
  const renewedPolicies = new WeakMap<EgressPolicy, EgressPolicy>();
  return async (request, policy, signal) => {
    const { renew } = policy;
    if (renew === undefined) return await send(request, policy, signal);
    const used = renewedPolicies.get(policy) ?? policy;
    const { placeholders } = used;
    let isPlaced = placeholders === undefined;
    const onPlaced = () => {
      isPlaced = true;
      placeholders?.onPlaced();
    };
    const watched = placeholders === undefined ? used : { ...used, placeholders: { ...placeholders, onPlaced } };
    const result = await send(request, watched, signal);
    if (!isPlaced || !isRefused(result, request)) return result;
    const credentials = await renew(used.credentials);
    const renewed = credentials === null ? null : replaceCredentials(used, credentials);
    if (renewed === null) return result;
    renewedPolicies.set(policy, renewed);
    return await send(request, renewed, signal);
  };
}

/** @returns null for credentials that cannot be sent as the bundle declares */
function replaceCredentials(policy: EgressPolicy, credentials: ReadonlyMap<string, Secret>): EgressPolicy | null {
  const prepared = prepareInjection(policy.inject, credentials);
  if ('refusal' in prepared) return null;
  const values = [...credentials.values()].map((secret) => secret.reveal());
  policy.redactor?.learn?.([...values, ...derivedSecrets(policy.inject, credentials)]);
  const nameOf = new Map([...policy.credentials].map(([name, secret]) => [secret, name]));
  const renew = ([placeholder, secret]: [string, Secret]): [string, Secret] => [
    placeholder,
    credentials.get(nameOf.get(secret) ?? '') ?? secret,
  ];
  const { placeholders } = policy;
  return {
    ...policy,
    credentials,
    injected: prepared.injected,
    ...(placeholders === undefined
      ? {}
      : { placeholders: { ...placeholders, secrets: new Map([...placeholders.secrets].map(renew)) } }),
  };
}
