import { Group, NativeSelect, TextInput } from '@mantine/core';
import type { Collection, CollectionType } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { NameField } from '../../components/forms/name-field.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useLanguage } from '../../language/language.tsx';
import { ChunkSizeField } from './chunk-size.tsx';
import { ExampleButton } from './example-button.tsx';

export function NewCollection({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [type, setType] = useState<CollectionType>('text');
  const [chunking, setChunking] = useState<Collection['chunking']>({});
  const create = async () => {
    const settings = type === 'text' ? { chunking } : {};
    const body = { name, description, type, ...settings };
    const created = await filesApi.data('POST /v1/collections', { body });
    await queries.invalidateQueries({ queryKey: ['collections'] });
    await navigate({ to: '/collections/$collectionId', params: { collectionId: created.collection_id } });
  };
  return (
    <Dialog onClose={onClose} title={t('collections.new')}>
      <SubmitForm action={t('action.create')} onSubmit={create}>
        {(failure) => (
          <>
            <NameField label={t('collections.name')} value={name} onChange={setName} failure={failure} />
            <NativeSelect
              label={t('collections.type')}
              value={type}
              onChange={(event) => setType(event.currentTarget.value === 'qa' ? 'qa' : 'text')}
              data={[
                { value: 'text', label: t('collections.type.text') },
                { value: 'qa', label: t('collections.type.qa') },
              ]}
            />
            <TextInput
              label={t('collections.description')}
              value={description}
              onChange={(event) => setDescription(event.currentTarget.value)}
              maxLength={512}
            />
            {type === 'text' ? <ChunkSizeField value={chunking} onChange={setChunking} /> : null}
          </>
        )}
      </SubmitForm>
      <Group mt="md">
        <ExampleButton label="instead" />
      </Group>
    </Dialog>
  );
}
