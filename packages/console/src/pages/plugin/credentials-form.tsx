import { Button, NativeSelect, Text, Title } from '@mantine/core';
import { type Bundle, profileMember } from '@quartermaster/contract';
import { useState } from 'react';
import { ask } from '../../api/call.ts';
import { useProfiles } from '../../api/credential-profiles.ts';
import { useLanguage } from '../../language/language.tsx';
import type { JsonSchema } from '../../pieces/json-schema.ts';
import { useToasts } from '../../pieces/toasts.tsx';
import { SchemaForm, type Values } from './schema-form.tsx';

export interface CredentialsWish {
  readonly bundle: Bundle;
  readonly value: Values;
  readonly onChange: (value: Values) => void;
}

/** The name of the credential profile that stands in the place of credentials; null: they are entered. */
export function profileOf(credentials: Values): string | null {
  const name = credentials[profileMember];
  return typeof name === 'string' ? name : null;
}

/** Credentials for a call: entered, or those that the project keeps sealed under a name. */
export function CredentialsForm({ bundle, value, onChange }: CredentialsWish) {
  const { t } = useLanguage();
  const schema: JsonSchema = bundle.credentials_schema;
  const profile = profileOf(value);
  if (Object.keys(schema.properties ?? {}).length === 0) return null;
  return (
    <section aria-labelledby="try-credentials">
      <Title order={2} size="h5" id="try-credentials">
        {t('try.credentials')}
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        {t(profile === null ? 'try.credentialsAbout' : 'try.profileAbout')}
      </Text>
      <ProfileChoice bundle={bundle} value={value} onChange={onChange} />
      {profile === null ? (
        <SchemaForm
          schema={schema}
          root={schema}
          value={value}
          onChange={(next) => onChange(next as Values)} // the form of an object makes objects
        />
      ) : null}
      <Check bundle={bundle} credentials={value} />
    </section>
  );
}

function ProfileChoice({ bundle, value, onChange }: CredentialsWish) {
  const { t } = useLanguage();
  const profiles = useProfiles(bundle.bundle_id);
  if (profiles.length === 0) return null;
  return (
    <NativeSelect
      label={t('try.profile')}
      mb="sm"
      value={profileOf(value) ?? ''}
      onChange={({ currentTarget: { value: name } }) => onChange(name === '' ? {} : { [profileMember]: name })}
      data={[{ value: '', label: t('try.noProfile') }, ...profiles.map(({ name }) => name)]}
    />
  );
}

/** Asks the third party whether it accepts them. */
function Check({ bundle, credentials }: { bundle: Bundle; credentials: Values }) {
  const { t } = useLanguage();
  const { say, complain } = useToasts();
  const [isChecking, setChecking] = useState(false);
  const verify = async () => {
    setChecking(true);
    try {
      const body = { bundle_id: bundle.bundle_id, credentials };
      await ask('POST', '/plugins/v1/verify_credentials', { body });
      say(t('try.verified'));
    } catch (error) {
      complain(error);
    }
    setChecking(false);
  };
  return (
    <Button mt="sm" size="xs" variant="default" loading={isChecking} onClick={() => void verify()}>
      {t('try.verify')}
    </Button>
  );
}
