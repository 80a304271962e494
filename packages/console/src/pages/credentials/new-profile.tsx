import { NativeSelect, Text } from '@mantine/core';
import type { Bundle } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pluginsApi } from '../../api/addresses.ts';
import { profilesKey } from '../../api/credential-profiles.ts';
import { useLanguage } from '../../language/language.tsx';
import { Dialog } from '../../pieces/dialog.tsx';
import type { JsonSchema } from '../../pieces/json-schema.ts';
import { NameField } from '../../pieces/name-field.tsx';
import { SchemaForm, type Values } from '../../pieces/schema-form.tsx';
import { SubmitForm } from '../../pieces/submit-form.tsx';
import { useToasts } from '../../pieces/toasts.tsx';

/** A name, a bundle and its credentials, which leave the page with the dialog. */
export function NewProfile({ bundles, onClose }: { bundles: readonly Bundle[]; onClose: () => void }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [bundleId, setBundleId] = useState('');
  const [credentials, setCredentials] = useState<Values>({});
  const needy = bundles.filter(({ credentials_schema: schema }) => Object.keys(schema.properties ?? {}).length > 0);
  const bundle = needy.find(({ bundle_id }) => bundle_id === bundleId);
  const make = async () => {
    await pluginsApi.json('POST /v1/credential_profiles', { body: { name, bundle_id: bundleId, credentials } });
    await queries.invalidateQueries({ queryKey: profilesKey });
    say(t('profiles.made', { name }));
    onClose();
  };
  const choose = (id: string) => {
    setBundleId(id);
    setCredentials({});
  };
  return (
    <Dialog onClose={onClose} title={t('profiles.new')} closeOnClickOutside={false}>
      <SubmitForm action={t('action.create')} onSubmit={make} isReady={bundle !== undefined}>
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

export interface CredentialFieldsWish {
  readonly bundle: Bundle;
  readonly value: Values;
  readonly onChange: (value: Values) => void;
}

/** Empty at first, whatever is stored. */
export function CredentialFields({ bundle, value, onChange }: CredentialFieldsWish) {
  const { t } = useLanguage();
  const schema: JsonSchema = bundle.credentials_schema;
  return (
    <>
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
