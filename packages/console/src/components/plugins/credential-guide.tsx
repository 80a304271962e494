import { Alert, Anchor, Text } from '@mantine/core';
import type { Bundle } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';
import { Icon } from '../icons.tsx';
import type { JsonSchema } from '../schema/json-schema.ts';
import { linksIn } from './links-in.ts';

/** What the user needs before they fill in the credentials of a bundle: whose they are, where they come from, who gets them. */
export function CredentialGuide({ bundle }: { bundle: Bundle }) {
  const { t } = useLanguage();
  const schema: JsonSchema = bundle.credentials_schema;
  const names = Object.keys(schema.properties ?? {});
  const required = names.filter((name) => schema.required?.includes(name) === true);
  // A choice between several sets of credentials, such as a token, or a name and a password.
  const alternatives = (schema.anyOf ?? []).map((one) => one.required ?? []);
  const optional = names.filter((name) => ![required, ...alternatives].flat().includes(name));
  const hosts = bundle.piece?.credential_hosts ?? bundle.hosts;
  const links = linksIn(names.map((name) => schema.properties?.[name]?.description ?? '').join('\n'));
  return (
    <Alert
      variant="light"
      color="cyan"
      role="note"
      icon={<Icon name="key" />}
      title={t('guide.title', { bundle: bundle.name })}
    >
      <Text size="sm">{t('guide.provider', { provider: bundle.provider })}</Text>
      {links.length === 0 ? null : (
        <Text size="sm">
          {t('guide.where')}{' '}
          {links.map((link) => (
            <Anchor key={link} href={link} target="_blank" rel="noreferrer" display="block" underline="always">
              {link}
            </Anchor>
          ))}
        </Text>
      )}
      {required.length === 0 ? null : (
        <Text size="sm">{t('guide.required', { count: required.length, names: required.join(', ') })}</Text>
      )}
      {alternatives.length === 0 ? null : (
        <Text size="sm">{t('guide.oneOf', { names: alternatives.map((one) => one.join(' + ')).join(' / ') })}</Text>
      )}
      {optional.length === 0 ? null : <Text size="sm">{t('guide.optional', { names: optional.join(', ') })}</Text>}
      {hosts.length === 0 ? null : <Text size="sm">{t('guide.hosts', { hosts: hosts.join(', ') })}</Text>}
    </Alert>
  );
}

/** Shown while the service has no encryption key, because it then refuses to store credentials. */
export function KeyGuide() {
  const { t } = useLanguage();
  return (
    <Alert variant="light" color="orange" icon={<Icon name="warning" />} title={t('guide.noKey')} role="status">
      {t('guide.noKeyAbout')}
    </Alert>
  );
}
