import { Checkbox } from '@mantine/core';
import type { ApiKey } from '@quartermaster/contract';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { useLanguage } from '../../language/language.tsx';

export interface RevokeKeyProps {
  readonly item: ApiKey;
  readonly onConfirm: (key: ApiKey, withDescendants: boolean) => Promise<void>;
  readonly onClose: () => void;
}

export function RevokeKey({ item, onConfirm, onClose }: RevokeKeyProps) {
  const { t } = useLanguage();
  // Only a key with scope admin can have created other keys.
  const mayHaveDescendants = item.scopes.includes('admin');
  const [withDescendants, setWithDescendants] = useState(mayHaveDescendants);
  return (
    <Confirm
      title={t('settings.revokeTitle', { name: item.name })}
      action={t('settings.revoke')}
      onConfirm={() => onConfirm(item, withDescendants)}
      onClose={onClose}
    >
      {t('settings.revokeAbout')}
      {mayHaveDescendants ? (
        <Checkbox
          mt="md"
          label={t('settings.revokeDescendants')}
          checked={withDescendants}
          onChange={(event) => setWithDescendants(event.currentTarget.checked)}
        />
      ) : null}
    </Confirm>
  );
}
