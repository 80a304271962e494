import { Button, NativeSelect, Text } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';

type Chunking = Collection['chunking'];

const sizes = [100, 200, 300, 400, 600, 800, 1000];

/** Selects the maximum tokens of a chunk. A size that another client has chosen is offered as well. */
export function ChunkSizeField({
  value,
  onChange,
  failure = null,
}: {
  value: Chunking;
  onChange: (chunking: Chunking) => void;
  failure?: string | null;
}) {
  const { t } = useLanguage();
  const { chunk_size: size } = value;
  const offered = size === undefined || sizes.includes(size) ? sizes : [...sizes, size].sort((a, b) => a - b);
  return (
    <NativeSelect
      label={t('chunking.size')}
      description={t('chunking.sizeAbout')}
      error={failure}
      value={size === undefined ? '' : String(size)}
      onChange={({ currentTarget }) =>
        onChange(currentTarget.value === '' ? {} : { chunk_size: Number(currentTarget.value) })
      }
      data={[
        { value: '', label: t('chunking.byScript') },
        ...offered.map((each) => ({ value: String(each), label: t('chunking.tokens', { count: each }) })),
      ]}
    />
  );
}

/** Changes how the documents of a collection are split. The records are split again in the background. */
export function ChangeChunking({ item, onChanged }: { item: Collection; onChanged: (changed: Collection) => void }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [chunking, setChunking] = useState(item.chunking);
  const change = async () => {
    const path = { collection_id: item.collection_id };
    const changed = await filesApi.data('POST /v1/collections/{collection_id}', { path, body: { chunking } });
    onChanged(changed);
    await queries.invalidateQueries({ queryKey: ['collections'] });
    setOpen(false);
    say(t('chunking.changed'));
  };
  const open = () => {
    setChunking(item.chunking);
    setOpen(true);
  };
  return (
    <>
      <Button variant="default" onClick={open}>
        {t('chunking.change')}
      </Button>
      {isOpen ? (
        <Dialog onClose={() => setOpen(false)} title={t('chunking.change')}>
          <SubmitForm action={t('chunking.apply')} onSubmit={change}>
            {(failure) => (
              <>
                <ChunkSizeField value={chunking} onChange={setChunking} failure={failure} />
                <Text size="sm">{t('chunking.changeAbout')}</Text>
              </>
            )}
          </SubmitForm>
        </Dialog>
      ) : null}
    </>
  );
}
