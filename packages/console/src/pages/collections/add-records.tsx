import { Button, Checkbox, Group, Modal, NativeSelect, Stack, Tabs, Text, Textarea, TextInput } from '@mantine/core';
import {
  type Collection,
  type OnDuplicate,
  purposeNames,
  purposes,
  type RecordCreate,
  type File as StoredFile,
} from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/call.ts';
import { useEndlessList } from '../../api/endless-list.ts';
import { useLanguage } from '../../language/language.tsx';
import { describeFailure } from '../../pieces/failure.tsx';
import { formatBytes } from '../../pieces/format.ts';
import { Loading } from '../../pieces/loading.tsx';
import { useToasts } from '../../pieces/toasts.tsx';
import classes from './collections.module.css';

export interface AddRecordsWish {
  readonly collection: Collection;
  readonly onClose: () => void;
}

/** Makes records of files; a text collection takes texts and pages as well. */
export function AddRecords({ collection, onClose }: AddRecordsWish) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { say } = useToasts();
  const path = `/v1/collections/${collection.collection_id}/records`;
  const make = async (wishes: readonly RecordCreate[]) => {
    for (const body of wishes) await ask('POST', path, { body });
    await queries.invalidateQueries({ queryKey: [path] });
    say(t('records.made', { count: wishes.length }));
    onClose();
  };
  const forms = <FromFiles collection={collection} onMake={make} />;
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('records.add')}
      size="lg"
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
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
            <FromText onMake={make} />
          </Tabs.Panel>
          <Tabs.Panel value="web">
            <FromWeb onMake={make} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Modal>
  );
}

type Make = (wishes: readonly RecordCreate[]) => Promise<void>;

/** A form that makes records, with its button and what went wrong. */
function useMaking(onMake: Make) {
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = (wishes: () => readonly RecordCreate[]) => async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      await onMake(wishes());
    } catch (error) {
      setFailure(describeFailure(error));
      setBusy(false);
    }
  };
  return { failure, busy, submit };
}

function FromFiles({ collection, onMake }: { collection: Collection; onMake: Make }) {
  const { t } = useLanguage();
  const purpose = purposeNames.find((name) => purposes[name].collectionType === collection.type) ?? 'record_file';
  const type = purposes[purpose].recordType;
  const files = useEndlessList<StoredFile>({ path: '/v1/files', query: { purpose }, idOf: (file) => file.file_id });
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [onDuplicate, setOnDuplicate] = useState<OnDuplicate>('keep');
  const { failure, busy, submit } = useMaking(onMake);
  if (files.isPending) return <Loading rows={3} />;
  if (files.items.length === 0) return <Text size="sm">{t('records.noFiles')}</Text>;
  const sheets = type === 'qa_sheet' ? { on_duplicate: onDuplicate } : {};
  return (
    <form onSubmit={submit(() => chosen.map((file_id) => ({ type, file_id, ...sheets })))}>
      <Stack gap="md">
        <Checkbox.Group label={t('records.chooseFiles')} value={[...chosen]} onChange={setChosen} error={failure}>
          <div className={classes.choices}>
            {files.items.map((file) => (
              <Checkbox
                key={file.file_id}
                value={file.file_id}
                label={`${file.file_name} · ${formatBytes(file.bytes)}`}
              />
            ))}
            {files.hasNextPage ? (
              <Button size="compact-sm" variant="default" onClick={files.loadMore}>
                …
              </Button>
            ) : null}
          </div>
        </Checkbox.Group>
        {type === 'qa_sheet' ? (
          <NativeSelect
            label={t('records.onDuplicate')}
            value={onDuplicate}
            onChange={(event) => setOnDuplicate(event.currentTarget.value as OnDuplicate)} // of the list below
            data={(['keep', 'skip', 'replace'] as const).map((value) => ({
              value,
              label: t(`records.duplicate.${value}`),
            }))}
          />
        ) : null}
        <Group justify="flex-end">
          <Button type="submit" loading={busy} disabled={chosen.length === 0}>
            {t('records.make', { count: chosen.length })}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function FromText({ onMake }: { onMake: Make }) {
  const { t } = useLanguage();
  const [title, setTitle] = useState('');
  const [content, setContent] = useState('');
  const { failure, busy, submit } = useMaking(onMake);
  return (
    <form onSubmit={submit(() => [{ type: 'text', content, ...(title === '' ? {} : { title }) }])}>
      <Stack gap="md">
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
        <Group justify="flex-end">
          <Button type="submit" loading={busy}>
            {t('records.makeOne')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function FromWeb({ onMake }: { onMake: Make }) {
  const { t } = useLanguage();
  const [url, setUrl] = useState('');
  const { failure, busy, submit } = useMaking(onMake);
  return (
    <form onSubmit={submit(() => [{ type: 'web', url }])}>
      <Stack gap="md">
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
        <Group justify="flex-end">
          <Button type="submit" loading={busy}>
            {t('records.makeOne')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
