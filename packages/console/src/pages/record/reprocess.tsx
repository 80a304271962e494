import { Button } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { createContext, useCallback, useContext, useEffect, useState } from 'react';
import { countEdited } from '../../api/edited-passages.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Icon } from '../../components/icons.tsx';
import { nameOfRecord } from '../../components/records/record-words.ts';
import { useToasts } from '../../components/toasts.tsx';
import { fill, useLanguage } from '../../language/language.tsx';
import { passageWords } from './passage-words.ts';

/** Notes whether a passage has text that was typed and not saved. */
export const UnsavedContext = createContext<(chunkId: string, isUnsaved: boolean) => void>(() => {});

/** The passages with unsaved text, and what `UnsavedContext` provides. */
export function useUnsavedPassages() {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const note = useCallback((chunkId: string, isUnsaved: boolean) => {
    setIds((before) => {
      const others = [...before].filter((id) => id !== chunkId);
      return new Set(isUnsaved ? [...others, chunkId] : others);
    });
  }, []);
  return { count: ids.size, note };
}

/** Makes the page ask before it replaces a passage with unsaved text. */
export function useUnsaved(chunkId: string, isUnsaved: boolean): void {
  const note = useContext(UnsavedContext);
  useEffect(() => {
    if (!isUnsaved) return;
    note(chunkId, true);
    return () => note(chunkId, false);
  }, [note, chunkId, isUnsaved]);
}

/** A sentence that says which edited passages and unsaved texts are lost; empty for none. */
export function useEdited({ collection_id, record_id, updated_timestamp }: RecordItem, unsaved: number) {
  const words = passageWords[useLanguage().code];
  const path = { collection_id, record_id };
  const { data: count = 0, refetch } = useQuery({
    queryKey: ['chunks', path, 'edited', updated_timestamp],
    queryFn: () => countEdited(path),
  });
  const sentences = [
    count === 0 ? '' : fill(words.editedLost, { count }),
    unsaved === 0 ? '' : fill(words.unsavedLost, { count: unsaved }),
  ];
  return { refetch, unsaved, warning: sentences.join(' ').trim() };
}

export interface ReprocessProps {
  readonly record: RecordItem;
  readonly edited: ReturnType<typeof useEdited>;
  readonly onConfirm: () => Promise<unknown>;
}

/** Processes a document again. Asks first when that loses edited passages or unsaved text. */
export function Reprocess({ record, edited, onConfirm }: ReprocessProps) {
  const { t, code } = useLanguage();
  const { showError } = useToasts();
  const [isAsking, setAsking] = useState(false);
  const start = async () => {
    // Another tab may have edited one.
    const { data = 0 } = await edited.refetch();
    if (data === 0 && edited.unsaved === 0) await onConfirm();
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
