import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import type { Collection, CollectionType } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/call.ts';
import { useLanguage } from '../../language/language.tsx';
import { describeFailure } from '../../pieces/failure.tsx';

export function NewCollection({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [type, setType] = useState<CollectionType>('text');
  const [failure, setFailure] = useState<string | null>(null);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const made = await ask<Collection>('POST', '/v1/collections', { body: { name, description, type } });
      await queries.invalidateQueries({ queryKey: ['/v1/collections'] });
      await navigate({ to: '/collections/$collectionId', params: { collectionId: made.collection_id } });
    } catch (error) {
      setFailure(describeFailure(error));
    }
  };
  return (
    <Modal opened onClose={onClose} title={t('collections.new')} closeButtonProps={{ 'aria-label': t('action.close') }}>
      <form onSubmit={make}>
        <Stack gap="md">
          <TextInput
            label={t('collections.name')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={127}
            required
            withAsterisk={false}
            data-autofocus
            error={failure}
          />
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
          <Group justify="flex-end">
            <Button type="submit">{t('action.create')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
