import { Button } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { countEdited } from '../../api/edited-passages.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { ConfirmButton } from '../../components/forms/confirm-button.tsx';
import { Icon } from '../../components/icons.tsx';
import { type Selection, useForEach } from '../../components/lists/selection.tsx';
import { needsPassword } from '../../components/records/password-form.tsx';
import { useRestore } from '../../components/records/use-restore.ts';
import { useToasts } from '../../components/toasts.tsx';
import { fill, useLanguage } from '../../language/language.tsx';
import { tableWords } from './table-words.ts';

export interface BulkActionsProps {
  readonly collectionId: string;
  readonly selection: Selection;
  readonly records: readonly RecordItem[];
}

const restorable = { restorable: true } as const;

/** Deletes the chosen records, or processes them again. Those that fail or are left out stay chosen. */
export function BulkActions({ collectionId, selection, records }: BulkActionsProps) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const forEach = useForEach();
  const { sayDeleted } = useRestore(collectionId);
  const count = selection.ids.size;
  const remove = async () => {
    const ids = [...selection.ids];
    const failed = await forEach(ids, (id) =>
      filesApi.json('DELETE /v1/collections/{collection_id}/records/{record_id}', {
        path: { collection_id: collectionId, record_id: id },
        query: restorable,
      }),
    );
    await queries.invalidateQueries({ queryKey: ['records', collectionId] });
    const gone = ids.filter((id) => !failed.includes(id));
    if (gone.length > 0) sayDeleted(t('records.deletedMany', { count: gone.length }), gone);
    selection.choose(failed);
  };
  return (
    <>
      <ReprocessMany collectionId={collectionId} selection={selection} records={records} />
      <ConfirmButton
        icon="trash"
        look={{ variant: 'light', color: 'red', size: 'xs' }}
        title={t('records.deleteMany', { count })}
        action={t('action.delete')}
        onConfirm={remove}
      >
        {t('records.deleteManyAbout')}
      </ConfirmButton>
    </>
  );
}

/** Processes the chosen records again. Asks first when that loses edited passages. */
function ReprocessMany({ collectionId, selection, records }: BulkActionsProps) {
  const { t, code } = useLanguage();
  const { say, showError } = useToasts();
  const queries = useQueryClient();
  const forEach = useForEach();
  const [edited, setEdited] = useState({ records: 0, passages: 0 });
  const path = (id: string) => ({ collection_id: collectionId, record_id: id });
  // Without a password, processing would fail again.
  const locked = new Set(records.filter(({ error }) => needsPassword(error)).map((record) => record.record_id));
  const ids = [...selection.ids].filter((id) => !locked.has(id));
  const leftOut = [...selection.ids].filter((id) => locked.has(id));
  const retry = async () => {
    const failed = await forEach(ids, (id) =>
      filesApi.json('POST /v1/collections/{collection_id}/records/{record_id}/retry', { path: path(id) }),
    );
    await queries.invalidateQueries({ queryKey: ['records', collectionId] });
    if (ids.length > failed.length) say(t('records.retriedMany', { count: ids.length - failed.length }));
    if (leftOut.length > 0) say(t('records.passwordMany', { count: leftOut.length }));
    selection.choose([...failed, ...leftOut]);
  };
  const start = async () => {
    const counts: number[] = [];
    const failed = await forEach(ids, async (id) => void counts.push(await countEdited(path(id))));
    if (failed.length > 0) return;
    const found = counts.filter((count) => count > 0);
    if (found.length === 0) await retry();
    else setEdited({ records: found.length, passages: found.reduce((sum, count) => sum + count, 0) });
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon name="refresh" size={16} />}
        onClick={() => void start().catch(showError)}
      >
        {t('records.retry')}
      </Button>
      {edited.records > 0 ? (
        <Confirm
          title={fill(tableWords[code].reprocessMany, { count: ids.length })}
          action={t('records.retry')}
          onConfirm={retry}
          onClose={() => setEdited({ records: 0, passages: 0 })}
        >
          {fill(tableWords[code].editedMany, edited)}
        </Confirm>
      ) : null}
    </>
  );
}
