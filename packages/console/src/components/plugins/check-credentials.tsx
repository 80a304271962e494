import { Button } from '@mantine/core';
import { useState } from 'react';
import { pluginsApi } from '../../api/addresses.ts';
import { useLanguage } from '../../language/language.tsx';
import type { Values } from '../schema/schema-form.tsx';
import { useToasts } from '../toasts.tsx';

/** Asks the third party whether it accepts the credentials, or those of the named profile. */
export function CheckCredentials({ bundleId, credentials }: { bundleId: string; credentials: Values }) {
  const { t } = useLanguage();
  const { say, showError } = useToasts();
  const [isChecking, setChecking] = useState(false);
  const verify = async () => {
    setChecking(true);
    try {
      await pluginsApi.json('POST /v1/verify_credentials', { body: { bundle_id: bundleId, credentials } });
      say(t('try.verified'));
    } catch (error) {
      showError(error);
    }
    setChecking(false);
  };
  return (
    <Button size="xs" variant="default" loading={isChecking} onClick={() => void verify()}>
      {t('try.verify')}
    </Button>
  );
}
