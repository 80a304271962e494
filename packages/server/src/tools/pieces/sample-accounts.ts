import { randomBytes } from 'node:crypto';
import { hasFixedDomain } from '../catalogue/manifest/check-places.ts';
import { createPlaceholder } from '../egress/placeholders/placeholders.ts';
import type { PieceAuth, PieceAuthValue } from '../execution/pieces/child/piece-task.ts';
import { credentialsOf } from '../execution/pieces/piece-schema.ts';

/** Credentials for a dry run. */
export interface SampleAccount {
  readonly auth: PieceAuthValue | null;
  readonly placeholders: readonly string[];
  /** The names of the texts that the piece does not declare as secrets, by a part that only this text has. */
  readonly labels: ReadonlyMap<string, string>;
  /** The names of the credentials that a host may hold, by what a host would hold of them. */
  readonly inHosts: ReadonlyMap<string, string>;
}

export interface SampleAccounts {
  /** Texts are labels in the first one, and URLs in the second one. */
  readonly accounts: readonly SampleAccount[];
  /** Accounts with other choices, such as another region. */
  readonly others: readonly SampleAccount[];
}

const maxChoices = 30;
/** The part of a sample text that only this text has. */
export const sampleLabel = /qm[0-9a-f]{12}/;

/** Returns the accounts for each alternative of the authentication. */
export function sampleAccounts(auth: readonly PieceAuth[]): SampleAccounts[] {
  const credentials = credentialsOf(auth);
  if (credentials === undefined) return [{ accounts: [noAccount], others: [] }];
  const { schema, forms } = credentials;
  const isSecret = (name: string) => Object(Object(schema.properties)[name])['x-secret'] === true;
  return forms.map(({ kind, fields }, index) => {
    const { props = [] } = auth[index] ?? {};
    const create = (asUrl: boolean, choice = 0): SampleAccount => {
      const values: Record<string, unknown> = {};
      const placeholders: string[] = [];
      const inHosts = new Map<string, string>();
      const labels = new Map<string, string>();
      for (const [name, type] of Object.entries(fields)) {
        const { options, defaultValue } = props.find((one) => one.name === name) ?? {};
        const value = isSecret(name)
          ? createPlaceholder()
          : (options?.[choice % options.length]?.value ?? (asUrl ? undefined : defaultValue) ?? sampleOf(type, asUrl));
        values[name] = value;
        const [label] = sampleLabel.exec(String(value)) ?? [];
        if (label !== undefined && !isSecret(name)) labels.set(label, name);
        if (isSecret(name)) placeholders.push(String(value));
        else if (typeof value === 'string' && options === undefined) inHosts.set(URL.parse(value)?.host || value, name);
      }
      return { auth: { kind, fields: values }, placeholders, inHosts, labels };
    };
    const choices = Math.max(...props.map(({ options = [] }) => options.length), 0);
    const others = Array.from({ length: Math.min(choices, maxChoices) }, (_, choice) => create(false, choice));
    return { accounts: [create(false), create(true)], others: others.slice(1) };
  });
}

const noAccount: SampleAccount = { auth: null, placeholders: [], inHosts: new Map(), labels: new Map() };

function sampleOf(type: string, asUrl: boolean): unknown {
  if (type !== 'text') return { number: 1, boolean: true }[type] ?? {};
  const label = `qm${randomBytes(6).toString('hex')}`;
  return asUrl ? `https://${label}.example.com` : label;
}

/** Replaces what a host holds of credentials by their names: `{subdomain}.example.com`. null when its domain is not fixed, or it has none. */
export function hostTemplate(host: string, { inHosts }: SampleAccount): string | null {
  const whole = inHosts.get(host);
  if (whole !== undefined) return `{${whole}}`;
  const template = [...inHosts].reduce((found, [text, name]) => found.replace(text, `{${name}}`), host);
  return (template === host && host.includes('.')) || hasFixedDomain(template) ? template : null;
}
