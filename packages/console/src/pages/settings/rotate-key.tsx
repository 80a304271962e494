import { Button, Group, Modal, NativeSelect, Stack } from '@mantine/core';
import type { ApiKey, NewApiKey } from '@quartermaster/contract';
import { useState } from 'react';
import { ask } from '../../api/call.ts';
import { useLanguage } from '../../language/language.tsx';
import { describeFailure } from '../../pieces/failure.tsx';
import type { NewKeyWish } from './new-key.tsx';

const overlaps = [0, 3600, 86_400, 604_800] as const;

export function RotateKey({ path, item, onMade, onClose }: NewKeyWish & { readonly item: ApiKey }) {
  const { t } = useLanguage();
  const [overlap, setOverlap] = useState('3600');
  const [failure, setFailure] = useState<string | null>(null);
  const rotate = async () => {
    try {
      const body = { overlap_seconds: Number(overlap) };
      onMade(await ask<NewApiKey>('POST', `${path}/${item.key_id}/rotate`, { body }));
    } catch (error) {
      setFailure(describeFailure(error));
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('settings.rotateTitle', { name: item.name })}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <Stack gap="lg">
        <NativeSelect
          label={t('settings.rotateAbout')}
          value={overlap}
          onChange={(event) => setOverlap(event.currentTarget.value)}
          data={overlaps.map((seconds) => ({ value: String(seconds), label: t(`settings.overlap.${seconds}`) }))}
          error={failure}
        />
        <Group justify="flex-end">
          <Button onClick={() => void rotate()}>{t('settings.rotate')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
