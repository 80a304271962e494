import { Button } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { countEdited } from '../../api/edited-passages.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Icon } from '../../components/icons.tsx';
import { nameOfRecord } from '../../components/records/record-words.ts';
import { useToasts } from '../../components/toasts.tsx';
import { fill, useLanguage } from '../../language/language.tsx';
import { passageWords } from './passage-words.ts';

/** The number of edited passages of a document, and a sentence that says that they are lost; empty for none. */
export function useEdited({ collection_id, record_id, updated_timestamp }: RecordItem) {
  const words = passageWords[useLanguage().code];
  const path = { collection_id, record_id };
  const { data: count = 0, refetch } = useQuery({
    queryKey: ['chunks', path, 'edited', updated_timestamp],
    queryFn: () => countEdited(path),
  });
  return { refetch, warning: count === 0 ? '' : fill(words.editedLost, { count }) };
}

export interface ReprocessProps {
  readonly record: RecordItem;
  readonly edited: ReturnType<typeof useEdited>;
  readonly onConfirm: () => Promise<unknown>;
}

/** Processes a document again. Asks first when that loses edited passages. */
export function Reprocess({ record, edited, onConfirm }: ReprocessProps) {
  const { t, code } = useLanguage();
  const { showError } = useToasts();
  const [isAsking, setAsking] = useState(false);
  const start = async () => {
    // Another tab may have edited one.
    const { data = 0 } = await edited.refetch();
    if (data === 0) await onConfirm();
    else setAsking(true);
  };
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="refresh" size={16} />}
        onClick={() => void start().catch(showError)}
      >
        {t('records.retry')}
      </Button>
      {isAsking ? (
        <Confirm
          title={fill(passageWords[code].reprocessTitle, { name: nameOfRecord(record) })}
          action={t('records.retry')}
          onConfirm={onConfirm}
          onClose={() => setAsking(false)}
        >
          {edited.warning}
        </Confirm>
      ) : null}
    </>
  );
}
