import { Button, Checkbox, NativeSelect, Text } from '@mantine/core';
import {
  type Collection,
  duplicatePolicies,
  type OnDuplicate,
  purposes,
  type RecordCreate,
} from '@quartermaster/contract';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { formatBytes } from '../../components/format.ts';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { Loading } from '../../components/loading.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';

export type CreateRecords = (requests: readonly RecordCreate[]) => Promise<void>;

/** Creates records from the chosen files that fit the collection. */
export function FromFiles({ collection, onCreate }: { collection: Collection; onCreate: CreateRecords }) {
  const { t } = useLanguage();
  const type = purposes[collection.type === 'qa' ? 'qa_record_file' : 'record_file'].recordType;
  const fitting = { collection_type: collection.type };
  const files = useInfiniteList({
    queryKey: ['files', 'list', fitting],
    load: (page, signal) => filesApi.json('GET /v1/files', { query: { ...page, ...fitting }, signal }),
    idOf: (file) => file.file_id,
  });
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [onDuplicate, setOnDuplicate] = useState<OnDuplicate>('keep');
  if (files.isPending) return <Loading rows={3} />;
  if (files.items.length === 0) return <Text size="sm">{t('records.noFiles')}</Text>;
  const sheets = type === 'qa_sheet' ? { on_duplicate: onDuplicate } : {};
  return (
    <SubmitForm
      action={t('records.addCount', { count: chosen.length })}
      isReady={chosen.length > 0}
      onSubmit={() => onCreate(chosen.map((file_id) => ({ type, file_id, ...sheets })))}
    >
      {(failure) => (
        <>
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
                  {t('action.more')}
                </Button>
              ) : null}
            </div>
          </Checkbox.Group>
          {type === 'qa_sheet' ? (
            <NativeSelect
              label={t('records.onDuplicate')}
              value={onDuplicate}
              onChange={(event) => setOnDuplicate(event.currentTarget.value as OnDuplicate)} // of the list below
              data={duplicatePolicies.map((value) => ({ value, label: t(`records.duplicate.${value}`) }))}
            />
          ) : null}
        </>
      )}
    </SubmitForm>
  );
}
