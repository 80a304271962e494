import { Group, NativeSelect } from '@mantine/core';
import { type Bundle, profileMember } from '@quartermaster/contract';
import { useProfiles } from '../../api/credential-profiles.ts';
import { CheckCredentials } from '../../components/plugins/check-credentials.tsx';
import { CredentialGuide } from '../../components/plugins/credential-guide.tsx';
import type { JsonSchema } from '../../components/schema/json-schema.ts';
import { SchemaForm, type Values } from '../../components/schema/schema-form.tsx';
import { Section } from '../../components/section.tsx';
import { useLanguage } from '../../language/language.tsx';

export interface CredentialsProps {
  readonly bundle: Bundle;
  readonly value: Values;
  readonly onChange: (value: Values) => void;
}

/** The chosen credential profile; null when the user enters credentials. */
export function profileOf(credentials: Values): string | null {
  const name = credentials[profileMember];
  return typeof name === 'string' ? name : null;
}

/** Credentials for a call: entered by the user, or a stored profile. */
export function CredentialsForm({ bundle, value, onChange }: CredentialsProps) {
  const { t } = useLanguage();
  const schema: JsonSchema = bundle.credentials_schema;
  const profile = profileOf(value);
  if (Object.keys(schema.properties ?? {}).length === 0) return null;
  return (
    <Section
      id="try-credentials"
      size="h5"
      title={t('try.credentials')}
      about={t(profile === null ? 'try.credentialsAbout' : 'try.profileAbout')}
    >
      <ProfileChoice bundle={bundle} value={value} onChange={onChange} />
      {profile === null ? (
        <>
          <CredentialGuide bundle={bundle} />
          <SchemaForm
            schema={schema}
            root={schema}
            value={value}
            onChange={(next) => onChange(next as Values)} // the form of an object makes objects
          />
        </>
      ) : null}
      <Group mt="sm">
        <CheckCredentials bundleId={bundle.bundle_id} credentials={value} />
      </Group>
    </Section>
  );
}

function ProfileChoice({ bundle, value, onChange }: CredentialsProps) {
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
