import { NativeSelect } from '@mantine/core';
import type { ApiKey } from '@quartermaster/contract';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useLanguage } from '../../language/language.tsx';
import type { NewKeyProps } from './new-key.tsx';

const overlaps = [0, 3600, 86_400, 604_800] as const;

export function RotateKey({ projectId, item, onCreated, onClose }: NewKeyProps & { readonly item: ApiKey }) {
  const { t } = useLanguage();
  const [overlap, setOverlap] = useState('3600');
  const rotate = async () => {
    const body = { overlap_seconds: Number(overlap) };
    const path = { project_id: projectId, key_id: item.key_id };
    onCreated(await filesApi.data('POST /v1/projects/{project_id}/keys/{key_id}/rotate', { path, body }));
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
