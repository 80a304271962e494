import { NativeSelect } from '@mantine/core';
import type { ApiKey, NewApiKey } from '@quartermaster/contract';
import { useState } from 'react';
import { ask } from '../../api/call.ts';
import { useLanguage } from '../../language/language.tsx';
import { Dialog } from '../../pieces/dialog.tsx';
import { SubmitForm } from '../../pieces/submit-form.tsx';
import type { NewKeyWish } from './new-key.tsx';

const overlaps = [0, 3600, 86_400, 604_800] as const;

export function RotateKey({ path, item, onMade, onClose }: NewKeyWish & { readonly item: ApiKey }) {
  const { t } = useLanguage();
  const [overlap, setOverlap] = useState('3600');
  const rotate = async () => {
    const body = { overlap_seconds: Number(overlap) };
    onMade(await ask<NewApiKey>('POST', `${path}/${item.key_id}/rotate`, { body }));
  };
  return (
    <Dialog onClose={onClose} title={t('settings.rotateTitle', { name: item.name })}>
      <SubmitForm action={t('settings.rotate')} onSubmit={rotate}>
        {(failure) => (
          <NativeSelect
            label={t('settings.rotateAbout')}
            value={overlap}
            onChange={(event) => setOverlap(event.currentTarget.value)}
            data={overlaps.map((seconds) => ({ value: String(seconds), label: t(`settings.overlap.${seconds}`) }))}
            error={failure}
          />
        )}
      </SubmitForm>
    </Dialog>
  );
}
