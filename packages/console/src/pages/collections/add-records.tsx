import { Tabs, Textarea, TextInput } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { type CreateRecords, FromFiles } from './from-files.tsx';

export interface AddRecordsProps {
  readonly collection: Collection;
  readonly onClose: () => void;
}

/** Creates records from files; for a text collection also from texts and web pages. */
export function AddRecords({ collection, onClose }: AddRecordsProps) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { say } = useToasts();
  const path = { collection_id: collection.collection_id };
  const create: CreateRecords = async (requests) => {
    for (const body of requests) await filesApi.json('POST /v1/collections/{collection_id}/records', { path, body });
    await queries.invalidateQueries({ queryKey: ['records', collection.collection_id] });
    say(t('records.processing', { count: requests.length }));
    onClose();
  };
  const forms = <FromFiles collection={collection} onCreate={create} />;
  return (
    <Dialog onClose={onClose} title={t('records.add')} size="lg">
      {collection.type === 'qa' ? (
        forms
      ) : (
        <Tabs defaultValue="files" keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="files">{t('records.fromFiles')}</Tabs.Tab>
            <Tabs.Tab value="text">{t('records.fromText')}</Tabs.Tab>
            <Tabs.Tab value="web">{t('records.fromWeb')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="files">{forms}</Tabs.Panel>
          <Tabs.Panel value="text">
            <FromText onCreate={create} />
          </Tabs.Panel>
          <Tabs.Panel value="web">
            <FromWeb onCreate={create} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Dialog>
  );
}

function FromText({ onCreate }: { onCreate: CreateRecords }) {
  const { t } = useLanguage();
  const [title, setTitle] = useState('');
  const [content, setContent] = useState('');
  const create = () => onCreate([{ type: 'text', content, ...(title === '' ? {} : { title }) }]);
  return (
    <SubmitForm action={t('records.addOne')} onSubmit={create}>
      {(failure) => (
        <>
          <TextInput
            label={t('records.textTitle')}
            value={title}
            maxLength={255}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          <Textarea
            label={t('records.text')}
            value={content}
            onChange={(event) => setContent(event.currentTarget.value)}
            rows={8}
            maxLength={65_535}
            required
            withAsterisk={false}
            error={failure}
          />
        </>
      )}
    </SubmitForm>
  );
}

function FromWeb({ onCreate }: { onCreate: CreateRecords }) {
  const { t } = useLanguage();
  const [url, setUrl] = useState('');
  return (
    <SubmitForm action={t('records.addOne')} onSubmit={() => onCreate([{ type: 'web', url }])}>
      {(failure) => (
        <TextInput
          type="url"
          label={t('records.url')}
          placeholder="https://…"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          required
          withAsterisk={false}
          error={failure}
        />
      )}
    </SubmitForm>
  );
}
