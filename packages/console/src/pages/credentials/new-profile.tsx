import { NativeSelect, Text } from '@mantine/core';
import type { Bundle } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pluginsApi } from '../../api/addresses.ts';
import { profilesKey } from '../../api/credential-profiles.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { NameField } from '../../components/forms/name-field.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { CredentialGuide } from '../../components/plugins/credential-guide.tsx';
import type { JsonSchema } from '../../components/schema/json-schema.ts';
import { SchemaForm, type Values } from '../../components/schema/schema-form.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { takesCredentials } from './bundle-choice.tsx';

/** Creates a profile. The credentials are dropped when the dialog closes. */
export function NewProfile({ bundles, onClose }: { bundles: readonly Bundle[]; onClose: () => void }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [bundleId, setBundleId] = useState('');
  const [credentials, setCredentials] = useState<Values>({});
  const needy = bundles.filter(takesCredentials);
  const bundle = needy.find(({ bundle_id }) => bundle_id === bundleId);
  const create = async () => {
    await pluginsApi.json('POST /v1/credential_profiles', { body: { name, bundle_id: bundleId, credentials } });
    await queries.invalidateQueries({ queryKey: profilesKey });
    say(t('profiles.created', { name }));
    onClose();
  };
  const choose = (id: string) => {
    setBundleId(id);
    setCredentials({});
  };
  return (
    <Dialog onClose={onClose} title={t('profiles.new')} closeOnClickOutside={false}>
      <SubmitForm action={t('action.create')} onSubmit={create} isReady={bundle !== undefined}>
        {(failure) => (
          <>
            <NameField
              label={t('profiles.name')}
              hint={t('profiles.nameHint')}
              value={name}
              onChange={setName}
              failure={failure}
              maxLength={64}
            />
            <NativeSelect
              label={t('profiles.bundle')}
              value={bundleId}
              onChange={(event) => choose(event.currentTarget.value)}
              data={[
                { value: '', label: `– ${t('try.notSet')} –` },
                ...needy.map((one) => ({ value: one.bundle_id, label: one.name })),
              ]}
            />
            {bundle === undefined ? null : (
              <CredentialFields bundle={bundle} value={credentials} onChange={setCredentials} />
            )}
          </>
        )}
      </SubmitForm>
    </Dialog>
  );
}

export interface CredentialFieldsProps {
  readonly bundle: Bundle;
  readonly value: Values;
  readonly onChange: (value: Values) => void;
}

/** Starts empty: stored credentials are never shown. */
export function CredentialFields({ bundle, value, onChange }: CredentialFieldsProps) {
  const { t } = useLanguage();
  const schema: JsonSchema = bundle.credentials_schema;
  return (
    <>
      <CredentialGuide bundle={bundle} />
      <SchemaForm
        schema={schema}
        root={schema}
        value={value}
        onChange={(next) => onChange(next as Values)} // the form of an object makes objects
      />
      <Text size="xs" c="dimmed">
        {t('profiles.once')}
      </Text>
    </>
  );
}
